// POST /login (R30.2).
import {
  type LoginAccepted,
  type LoginRejected,
  LoginRejected_Reason,
  type StartedInteraction,
  type SubmitLoginResponse,
} from '@course-exchange/proto/identity/v1/authorization';
import type { Form } from '../http/form.ts';
import { type Answer, type Route, redirectAnswer } from '../http/route.ts';
import { type LoginProblem, loginPage } from '../pages/login.ts';
import type { Messages } from '../pages/messages/en.ts';
import { type BrowserRouteDeps, expiredAnswer, isCrossSite, layoutOf, noCookiesAnswer } from './browser.ts';
import {
  formRoute,
  type InteractionForm,
  nextPageAddress,
  pageAnswer,
  startedCookies,
} from './interaction.ts';

export function loginRoute(deps: BrowserRouteDeps): Route {
  const route = formRoute(deps, '/login', async (at) => {
    const { outcome } = await deps.authorization.submitLogin({
      interaction: at.interaction,
      email: at.form.get('email'),
      password: at.form.get('password'),
      forgetMe: forgetsMe(at.form),
      deviceCookie: deps.cookies.device(at.request.headers.cookie),
      cookieGone: !isCrossSite(at.request) && at.interaction.interactionCookie === '',
    });
    return loginAnswer(at, outcome);
  });
  return { ...route, work: 'login', budgetMs: deps.loginBudgetMs };
}

function forgetsMe(form: Form): boolean {
  return form.get('forget_me') !== '';
}

function loginAnswer(at: InteractionForm, outcome: SubmitLoginResponse['outcome']): Answer {
  switch (outcome.case) {
    case 'accepted': {
      const next = nextPageAddress(outcome.value.next, at.interactionId);
      return redirectAnswer(next, loginCookies(at.deps, outcome.value));
    }
    case 'redirect': {
      const { redirect, browserSession, deviceCookie } = outcome.value;
      const cookies =
        browserSession === undefined ? [] : loginCookies(at.deps, { browserSession, deviceCookie });
      return redirectAnswer(redirect?.location ?? '', cookies, redirect?.error);
    }
    case 'rejected':
      return rejectedAnswer(at, outcome.value);
    case 'interaction':
      return againAnswer(at, outcome.value);
    default:
      return expiredAnswer(at.deps, at.request);
  }
}

/** "Shared computer" also clears the old session's cookie (R29.7). */
function loginCookies(
  { cookies }: BrowserRouteDeps,
  { browserSession, deviceCookie }: Pick<LoginAccepted, 'browserSession' | 'deviceCookie'>,
): string[] {
  const session = browserSession === '' ? cookies.clearSession() : cookies.setSession(browserSession);
  return deviceCookie === '' ? session : [...session, ...cookies.setDevice(deviceCookie)];
}

function rejectedAnswer(at: InteractionForm, rejected: LoginRejected): Answer {
  const { view, reason, retryAfterSeconds, accountAttacked } = rejected;
  const { deps, request, form } = at;
  if (!view) return expiredAnswer(deps, request);
  const { messages } = layoutOf(deps, request, view.page?.uiLocales).language;
  const throttled = reason === LoginRejected_Reason.THROTTLED;
  const problem = throttled
    ? { both: messages.login[accountAttacked ? 'attacked' : 'throttled'](retryAfterSeconds) }
    : problemOf(messages, reason, form);
  const attempt = { ...view, email: form.get('email'), forgetMe: forgetsMe(form), problem };
  const page = pageAnswer(at, attempt, loginPage);
  return throttled
    ? { ...page, status: 429, headers: { ...page.headers, 'retry-after': String(retryAfterSeconds) } }
    : page;
}

/** Its cookie was gone: among others it was the oldest (R6.13), or the browser keeps none (R6.14). */
function againAnswer(at: InteractionForm, started: StartedInteraction): Answer {
  const { deps, request, form } = at;
  const uiLocales = started.login?.page?.uiLocales;
  if (!started.login || !deps.cookies.sendsAny(request.headers.cookie))
    return noCookiesAnswer(deps, request, uiLocales);
  const { messages } = layoutOf(deps, request, uiLocales).language;
  const attempt = {
    ...started.login,
    forgetMe: forgetsMe(form),
    problem: { both: messages.login.again },
  };
  const page = pageAnswer({ ...at, interactionId: started.interactionId }, attempt, loginPage);
  return { ...page, cookies: startedCookies(deps, request, started, 'again') };
}

function problemOf({ login }: Messages, reason: LoginRejected_Reason, form: Form): LoginProblem {
  if (reason !== LoginRejected_Reason.INCOMPLETE) return { both: login.wrong, again: login.typeAgain };
  const email = form.get('email') === '' && login.emailMissing;
  const password = form.get('password') === '' && login.passwordMissing;
  if (!email && !password) return { both: login.tooLong };
  return { ...(email && { email }), ...(password && { password }) };
}
