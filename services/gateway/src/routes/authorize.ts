// GET and POST /authorize: starts an interaction and shows its page, or answers at once (R1.1, R5.15).
import { AuthorizationParametersSchema } from '@course-exchange/proto/identity/v1/authorization';
import { authorizationParameters } from '@course-exchange/rules/parameters';
import { Failure } from '@course-exchange/runtime/process/errors';
import { type Form, formText, requireForm, textsOf } from '../http/form.ts';
import type { IncomingRequest } from '../http/request.ts';
import { type Answer, type Route, redirectAnswer } from '../http/route.ts';
import { loginPage } from '../pages/login.ts';
import { type BrowserRouteDeps, isCrossSite, renderUnavailable } from './browser.ts';
import { nextPageAddress, pageAnswer, startedCookies } from './interaction.ts';

export const authorizePath = '/authorize';

const parametersOf = textsOf(AuthorizationParametersSchema);

/** In characters, like the header section of a GET. */
const longestForm = 16 * 1024;
/** In characters; a longer form is not redirected as a GET. */
const longestQuery = 8_000;

export function authorizeRoutes(deps: BrowserRouteDeps): readonly Route[] {
  return [
    {
      method: 'GET',
      path: authorizePath,
      profile: 'page',
      answer: (request) => begin(deps, request, requireForm(request.query)),
      // The page's own address.
      renderError: renderUnavailable(deps, () => ''),
    },
    {
      method: 'POST',
      path: authorizePath,
      profile: 'page',
      answer: (request) => beginFromForm(deps, request),
      renderError: renderUnavailable(deps, () => undefined),
    },
  ];
}

/** A cross-site POST arrives without our cookies (SameSite=Lax); a GET brings them. */
async function beginFromForm(deps: BrowserRouteDeps, request: IncomingRequest): Promise<Answer> {
  const body = formText(request);
  if (body.length > longestForm) throw new Failure('invalid_request', 'form longer than 16 KiB');
  if (isCrossSite(request) && body.length <= longestQuery && isQueryText(body))
    return redirectAnswer(`${authorizePath}?${body}`);
  return begin(deps, request, requireForm(body));
}

function isQueryText(text: string): boolean {
  return /^[!-~]*$/.test(text) && !text.includes('#');
}

async function begin(deps: BrowserRouteDeps, request: IncomingRequest, form: Form): Promise<Answer> {
  const { authorization, cookies } = deps;
  const { cookie: presented } = request.headers;
  const { outcome } = await authorization.beginAuthorization({
    parameters: parametersOf(form),
    repeatedParameters: form.repeated(authorizationParameters),
    notUtf8Parameters: form.notUtf8(authorizationParameters),
    browserSession: cookies.session(presented),
  });
  if (outcome.case === 'redirect') return redirectAnswer(outcome.value.location, [], outcome.value.error);
  if (outcome.case !== 'interaction') throw new Failure('server_error', 'no outcome');
  const { interactionId, login } = outcome.value;
  const page = login
    ? pageAnswer({ deps, request, interactionId }, login, loginPage)
    : redirectAnswer(nextPageAddress(outcome.value, interactionId));
  return { ...page, cookies: startedCookies(deps, request, outcome.value, 'start') };
}
