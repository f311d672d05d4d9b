// GET and POST /authorize: opens a transaction and leads to its page, or answers at once (R1, R5).

import { Failure } from '@course-exchange/runtime/failure';
import { type Answer, redirectAnswer } from '../answer.ts';
import { decodeForm, type Form, isFormEncoded } from '../wire/form.ts';
import type { IncomingRequest } from '../wire/incoming-request.ts';
import type { Route } from './route.ts';
import { explainUnavailable, isForeignPost, pageAddress, type Site } from './site.ts';

export const authorizePath = '/authorize';

/** What the header section of a GET can carry: a POST may ask for no more. In characters. */
const longestForm = 16 * 1024;
/** A longer request would not fit into a header section when it is sent again as a GET, in characters. */
const longestQuery = 8_000;

export function authorize(site: Site): readonly Route[] {
  return [
    {
      method: 'GET',
      path: authorizePath,
      surface: 'page',
      answer: (request) => begin(site, request, decodeForm(request.query)),
      // An empty reference is the page's own address.
      explain: explainUnavailable(site, () => ''),
    },
    {
      method: 'POST',
      path: authorizePath,
      surface: 'page',
      answer: (request) => beginFromForm(site, request),
      explain: explainUnavailable(site, () => undefined),
    },
  ];
}

/**
 * A POST from the partner's site comes without our cookies (SameSite=Lax), so that a person who is signed
 * in would not be known: the same request as a GET brings them.
 */
async function beginFromForm(site: Site, request: IncomingRequest): Promise<Answer> {
  if (!isFormEncoded(request.headers['content-type'])) throw new Failure('invalid_request');
  const body = await request.readBody();
  if (body.length > longestForm) throw new Failure('invalid_request', 'longer than a GET can be');
  if (isForeignPost(request) && body.length <= longestQuery && isQueryText(body))
    return redirectAnswer(`${authorizePath}?${body}`);
  return begin(site, request, decodeForm(body));
}

function isQueryText(text: string): boolean {
  return /^[!-~]*$/.test(text) && !text.includes('#');
}

async function begin(site: Site, request: IncomingRequest, form: Form): Promise<Answer> {
  const { authorization, cookies } = site;
  const { cookie } = request.headers;
  const { outcome } = await authorization.beginAuthorization({
    parameters: parametersOf(form),
    repeatedParameters: [...form.repeated],
    browserSession: cookies.session(cookie),
  });
  if (outcome.case === 'redirect') return redirectAnswer(outcome.value.location);
  if (outcome.case !== 'interaction') throw new Failure('server_error', 'no outcome of an authorization');
  const { interactionId, binding, expiresIn } = outcome.value;
  return redirectAnswer(pageAddress('/login', interactionId), [
    ...cookies.clearSurplusBindings(cookie),
    cookies.setBinding(interactionId, binding, expiresIn),
  ]);
}

function parametersOf(form: Form): Parameters<Site['authorization']['beginAuthorization']>[0]['parameters'] {
  return {
    responseType: form.get('response_type'),
    clientId: form.get('client_id'),
    redirectUri: form.get('redirect_uri'),
    scope: form.get('scope'),
    state: form.get('state'),
    nonce: form.get('nonce'),
    codeChallenge: form.get('code_challenge'),
    codeChallengeMethod: form.get('code_challenge_method'),
    prompt: form.get('prompt'),
    maxAge: form.get('max_age'),
    loginHint: form.get('login_hint'),
    idTokenHint: form.get('id_token_hint'),
    uiLocales: form.get('ui_locales'),
    request: form.get('request'),
    requestUri: form.get('request_uri'),
    responseMode: form.get('response_mode'),
  };
}
