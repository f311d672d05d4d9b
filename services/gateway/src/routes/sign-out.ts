// GET and POST /sign-out: a plain page of ours with a button; no end-session endpoint (R29).
import { type Answer, htmlAnswer, redirectAnswer } from '../answer.ts';
import { signedOutPage, signOutPage } from '../pages/sign-out-page.ts';
import type { IncomingRequest } from '../wire/incoming-request.ts';
import type { Route } from './route.ts';
import { expiredAnswer, explainUnavailable, frameOf, isForeignPost, readForm, type Site } from './site.ts';

const path = '/sign-out';

export function signOut(site: Site): readonly Route[] {
  const explain = explainUnavailable(site, () => path);
  return [
    { method: 'GET', path, surface: 'page', answer: (request) => show(site, request), explain },
    { method: 'POST', path, surface: 'page', answer: (request) => end(site, request), explain },
  ];
}

async function show(site: Site, request: IncomingRequest): Promise<Answer> {
  const browserSession = site.cookies.session(request.headers.cookie);
  const { account, formToken } = await site.authorization.getBrowserSession({ browserSession });
  const frame = frameOf(site, request);
  return htmlAnswer(200, account ? signOutPage(frame, account, formToken) : signedOutPage(frame));
}

/** Leads to the page, which then says that nobody is signed in: reloading it sends nothing again. */
async function end(site: Site, request: IncomingRequest): Promise<Answer> {
  const form = await readForm(request);
  if (isForeignPost(request)) return expiredAnswer(site, request);
  const { ended } = await site.authorization.endBrowserSession({
    browserSession: site.cookies.session(request.headers.cookie),
    formToken: form.get('form_token'),
  });
  return ended ? redirectAnswer(path, [site.cookies.clearSession()]) : expiredAnswer(site, request);
}
