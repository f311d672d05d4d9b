// POST /login: e-mail and password to identity; its answer is a next page, a redirect, or the form again
// with what is wrong (R18, R30).
import {
  type LoginRejected,
  LoginRejected_Reason,
  type SubmitLoginResponse,
} from '@course-exchange/proto/identity/v1/authorization';
import { type Answer, redirectAnswer } from '../answer.ts';
import { type LoginProblem, nextTry } from '../pages/login-page.ts';
import type { Messages } from '../pages/messages/messages.ts';
import type { Form } from '../wire/form.ts';
import type { IncomingRequest } from '../wire/incoming-request.ts';
import { showLogin } from './interaction-view.ts';
import type { Route } from './route.ts';
import {
  expiredAnswer,
  explainUnavailable,
  frameOf,
  interactionAddress,
  interactionIdOf,
  interactionRef,
  pageAddress,
  readForm,
  type Site,
} from './site.ts';

export function postLogin(site: Site): Route {
  return {
    method: 'POST',
    path: '/login',
    surface: 'page',
    budgetMs: site.loginBudgetMs,
    answer: async (request) => {
      const form = await readForm(request);
      const { outcome } = await site.authorization.submitLogin({
        interaction: interactionRef(site, request, form),
        email: form.get('email'),
        password: form.get('password'),
        forgetMe: form.get('forget_me') !== '',
        clientAddress: request.clientAddress,
      });
      return answerOutcome(site, request, form, outcome);
    },
    explain: explainUnavailable(site, interactionAddress),
  };
}

function answerOutcome(
  site: Site,
  request: IncomingRequest,
  form: Form,
  outcome: SubmitLoginResponse['outcome'],
): Answer {
  switch (outcome.case) {
    case 'accepted': {
      const next = pageAddress('/consent', interactionIdOf(form));
      return redirectAnswer(next, [sessionCookie(site, outcome.value.browserSession)]);
    }
    case 'redirect':
      return redirectAnswer(outcome.value.redirect?.location ?? '', [
        sessionCookie(site, outcome.value.browserSession),
      ]);
    case 'foreign':
      return redirectAnswer(outcome.value.location);
    case 'rejected':
      return rejectedAnswer(site, request, form, outcome.value);
    default:
      return expiredAnswer(site, request);
  }
}

/** Without a new session ("shared computer") the old one's cookie goes too (R29). */
function sessionCookie({ cookies }: Site, session: string): string {
  return session === '' ? cookies.clearSession() : cookies.setSession(session);
}

function rejectedAnswer(site: Site, request: IncomingRequest, form: Form, rejected: LoginRejected): Answer {
  const { view, reason, retryAfterSeconds } = rejected;
  if (!view) return expiredAnswer(site, request);
  const { messages } = frameOf(site, request, view.page?.uiLocales).language;
  const throttled = reason === LoginRejected_Reason.THROTTLED;
  const problem = throttled
    ? { both: nextTry(messages, retryAfterSeconds, site.now()) }
    : problemOf(messages, reason, form);
  const place = { site, request, interactionId: interactionIdOf(form) };
  const attempt = { email: form.get('email'), forgetMe: form.get('forget_me') !== '', problem };
  const page = showLogin(place, view, attempt);
  return throttled
    ? { ...page, status: 429, headers: { ...page.headers, 'retry-after': String(retryAfterSeconds) } }
    : page;
}

function problemOf({ login }: Messages, reason: LoginRejected_Reason, form: Form): LoginProblem {
  if (reason !== LoginRejected_Reason.INCOMPLETE) return { both: login.wrong, again: login.typeAgain };
  const email = form.get('email') === '' && login.emailMissing;
  const password = form.get('password') === '' && login.passwordMissing;
  if (!email && !password) return { both: login.tooLong };
  return { ...(email && { email }), ...(password && { password }) };
}
