// Shared by the routes for browsers.
import { retryAfterSeconds } from '@course-exchange/runtime/process/errors';
import type { Cookies } from '../http/cookies.ts';
import { decodeForm, type Form } from '../http/form.ts';
import type { IncomingRequest } from '../http/request.ts';
import { type Answer, htmlAnswer, type Route } from '../http/route.ts';
import { expiredPage, noCookiesPage, startPage, unavailablePage } from '../pages/errors.ts';
import type { Links, PageLayout } from '../pages/layout.ts';
import { chooseLanguage } from '../pages/messages/language.ts';
import type { Services } from '../services.ts';

export interface BrowserRouteDeps {
  readonly authorization: Services['authorization'];
  readonly cookies: Cookies;
  readonly links: Links;
  /** In milliseconds (R14.5). */
  readonly loginBudgetMs: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export type PageRequest = Pick<IncomingRequest, 'headers' | 'requestId'>;

export function layoutOf(
  deps: Pick<BrowserRouteDeps, 'links'>,
  request: PageRequest,
  uiLocales = '',
): PageLayout {
  return {
    language: chooseLanguage(uiLocales, request.headers['accept-language']),
    links: deps.links,
    reference: request.requestId,
  };
}

/** Never by Origin, which is `null` under no-referrer (R25.9). */
export function isCrossSite(request: IncomingRequest): boolean {
  const site = request.headers['sec-fetch-site'];
  return site !== undefined && site !== 'same-origin' && site !== 'none';
}

export function expiredAnswer(deps: BrowserRouteDeps, request: IncomingRequest): Answer {
  return { ...htmlAnswer(400, expiredPage(layoutOf(deps, request))), code: 'invalid_request' };
}

/** The browser sent no cookie of ours with a login form (R6.14). */
export function noCookiesAnswer(
  deps: BrowserRouteDeps,
  request: IncomingRequest,
  uiLocales: string | undefined,
): Answer {
  return { ...htmlAnswer(400, noCookiesPage(layoutOf(deps, request, uiLocales))), code: 'invalid_request' };
}

/** For a person who typed the address of this service: nothing begins here. */
export function startAnswer(deps: Pick<BrowserRouteDeps, 'links'>, request: PageRequest): Answer {
  return { ...htmlAnswer(404, startPage(layoutOf(deps, request))), code: 'not_found' };
}

/** A page instead of JSON (R14.4); `retryAt`: where to try again. */
export function renderUnavailable(
  deps: BrowserRouteDeps,
  retryAt: (query: Form) => string | undefined,
): NonNullable<Route['renderError']> {
  return (code, request) => {
    if (code !== 'temporarily_unavailable') return undefined;
    const query = decodeForm(request.query);
    const layout = layoutOf(deps, request, query.get('ui_locales'));
    return htmlAnswer(503, unavailablePage(layout, retryAt(query)), {
      'retry-after': String(retryAfterSeconds()),
    });
  };
}

/** The same for a form; a body that is not a form is a foreign form (R6.4). */
export function renderFormError(
  deps: BrowserRouteDeps,
  retryAt: (query: Form) => string | undefined,
): NonNullable<Route['renderError']> {
  const unavailable = renderUnavailable(deps, retryAt);
  return (code, request) =>
    code === 'invalid_request' ? expiredAnswer(deps, request) : unavailable(code, request);
}
