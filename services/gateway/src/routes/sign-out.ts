// GET and POST /sign-out: a plain page with a button; not an end-session endpoint (R29.4).
import { readForm } from '../http/form.ts';
import type { IncomingRequest } from '../http/request.ts';
import { type Answer, htmlAnswer, type Route, redirectAnswer } from '../http/route.ts';
import { signedOutPage, signOutPage } from '../pages/account.ts';
import { type BrowserRouteDeps, expiredAnswer, isCrossSite, layoutOf, renderFormError } from './browser.ts';

const path = '/sign-out';

export function signOutRoutes(deps: BrowserRouteDeps): readonly Route[] {
  const renderError = renderFormError(deps, () => path);
  return [
    { method: 'GET', path, profile: 'page', answer: (request) => show(deps, request), renderError },
    { method: 'POST', path, profile: 'page', answer: (request) => end(deps, request), renderError },
  ];
}

async function show(deps: BrowserRouteDeps, request: IncomingRequest): Promise<Answer> {
  const browserSession = deps.cookies.session(request.headers.cookie);
  const { account, formToken } = await deps.authorization.getBrowserSession({ browserSession });
  const layout = layoutOf(deps, request);
  return htmlAnswer(200, account ? signOutPage(layout, account, formToken) : signedOutPage(layout));
}

/** A redirect, so that a reload does not send the form again. */
async function end(deps: BrowserRouteDeps, request: IncomingRequest): Promise<Answer> {
  const form = readForm(request);
  if (isCrossSite(request)) return expiredAnswer(deps, request);
  const { ended } = await deps.authorization.endBrowserSession({
    browserSession: deps.cookies.session(request.headers.cookie),
    formToken: form.get('form_token'),
  });
  return ended ? redirectAnswer(path, deps.cookies.clearSession()) : expiredAnswer(deps, request);
}
