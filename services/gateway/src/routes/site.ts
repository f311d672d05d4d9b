// What every route for people is made with, and what they share: the frame of a page, the browser's hold on
// a transaction, and the two pages for what went wrong.

import { type Answer, htmlAnswer } from '../answer.ts';
import { expiredPage, unavailablePage } from '../pages/error-pages.ts';
import type { Frame, Links } from '../pages/frame.ts';
import { chooseLanguage } from '../pages/messages/languages.ts';
import type { Cookies } from '../wire/cookies.ts';
import { decodeForm, type Form, isFormEncoded } from '../wire/form.ts';
import type { IncomingRequest } from '../wire/incoming-request.ts';
import type { Services } from '../wire/services.ts';
import type { Route } from './route.ts';

export interface Site {
  readonly authorization: Services['authorization'];
  readonly cookies: Cookies;
  readonly links: Links;
  /** Time for a login in milliseconds: password hashing has a queue (R14). */
  readonly loginBudgetMs: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** `uiLocales` of the transaction, or '' where none is known. */
export function frameOf(site: Site, request: IncomingRequest, uiLocales = ''): Frame {
  return {
    language: chooseLanguage(uiLocales, request.headers['accept-language']),
    links: site.links,
    reference: request.requestId,
  };
}

/** The form of a POST; an empty one when the body is of another kind. */
export async function readForm(request: IncomingRequest): Promise<Form> {
  return decodeForm(isFormEncoded(request.headers['content-type']) ? await request.readBody() : '');
}

type InteractionRef = NonNullable<Parameters<Services['authorization']['getInteraction']>[0]['interaction']>;

const interactionName = /^[A-Za-z0-9_-]{1,64}$/;

/** The transaction that the form or the query names; '' when none. */
export function interactionIdOf(form: Form): string {
  const id = form.get('interaction');
  return interactionName.test(id) ? id : '';
}

/**
 * The browser's hold on a transaction. A form that another site sent comes without any of it, so that
 * identity sees a foreign one and the owner's transaction goes on (R6, R25).
 */
export function interactionRef(site: Site, request: IncomingRequest, form: Form): InteractionRef {
  const interactionId = interactionIdOf(form);
  if (isForeignPost(request)) return { interactionId };
  const { cookie } = request.headers;
  return {
    interactionId,
    binding: site.cookies.binding(cookie, interactionId),
    formToken: form.get('form_token'),
    browserSession: site.cookies.session(cookie),
  };
}

/** By Sec-Fetch-Site where the browser sends it; never by Origin, which is `null` under no-referrer (R25). */
export function isForeignPost(request: IncomingRequest): boolean {
  const site = request.headers['sec-fetch-site'];
  return site !== undefined && site !== 'same-origin' && site !== 'none';
}

export function expiredAnswer(site: Site, request: IncomingRequest): Answer {
  return htmlAnswer(400, expiredPage(frameOf(site, request)));
}

/** A page instead of JSON while a store does not answer; `againAt` is where trying again begins (R14). */
export function explainUnavailable(
  site: Site,
  againAt: (query: Form) => string | undefined,
): NonNullable<Route['explain']> {
  return (code, request) => {
    if (code !== 'temporarily_unavailable') return undefined;
    const query = decodeForm(request.query);
    const frame = frameOf(site, request, query.get('ui_locales'));
    return htmlAnswer(503, unavailablePage(frame, againAt(query)), { 'retry-after': '1' });
  };
}

/** The page of the transaction that the query names. */
export function interactionAddress(query: Form): string | undefined {
  const id = interactionIdOf(query);
  return id === '' ? undefined : pageAddress('/login', id);
}

export function pageAddress(path: string, interactionId: string): string {
  return `${path}?interaction=${interactionId}`;
}
