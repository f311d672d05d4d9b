// The browser's side of an interaction: the proof that it belongs to this browser, page addresses, GET of the pages
// (which changes nothing), and POST of choices. Identity owns its state and refuses a form without the proof (R6.3).
import {
  SubmitConsentRequest_Decision as Decision,
  type GetInteractionResponse,
  Page,
  type PageContext,
  type StartedInteraction,
  type SubmitAccountChoiceResponse,
  type SubmitConsentResponse,
} from '@course-exchange/proto/identity/v1/authorization';
import { enumKey } from '@course-exchange/rules/enum-key';
import { decodeForm, type Form, readForm } from '../http/form.ts';
import { contentSecurityPolicy } from '../http/headers.ts';
import type { IncomingRequest } from '../http/request.ts';
import { type Answer, htmlAnswer, type Route, redirectAnswer } from '../http/route.ts';
import { accountPage } from '../pages/account.ts';
import { consentPage } from '../pages/consent.ts';
import type { InteractionFields, PageLayout } from '../pages/layout.ts';
import { loginPage } from '../pages/login.ts';
import type { Services } from '../services.ts';
import {
  type BrowserRouteDeps,
  expiredAnswer,
  isCrossSite,
  layoutOf,
  renderFormError,
  renderUnavailable,
} from './browser.ts';

type InteractionRef = NonNullable<Parameters<Services['authorization']['getInteraction']>[0]['interaction']>;

export interface InteractionRequest {
  readonly deps: BrowserRouteDeps;
  readonly request: IncomingRequest;
  /** '' when none is named. */
  readonly interactionId: string;
}

export interface InteractionForm extends InteractionRequest {
  readonly form: Form;
  readonly interaction: InteractionRef;
}

const pages = ['login', 'account', 'consent'] as const;
type PageName = (typeof pages)[number];

export function pageRoutes(deps: BrowserRouteDeps): readonly Route[] {
  return pages.map((page) => ({
    method: 'GET',
    path: `/${page}`,
    profile: 'page',
    answer: (request) => {
      const interactionId = interactionIdOf(decodeForm(request.query));
      return showPage({ deps, request, interactionId }, browserProof(deps, request, interactionId), page);
    },
    renderError: renderUnavailable(deps, retryAddress),
  }));
}

export function formRoute(
  deps: BrowserRouteDeps,
  path: `/${PageName | 'cancel'}`,
  answer: (form: InteractionForm) => Promise<Answer>,
): Route {
  return {
    method: 'POST',
    path,
    profile: 'page',
    answer: async (request) => {
      const form = readForm(request);
      const interaction = interactionRef(deps, request, form);
      return answer({ deps, request, form, interaction, interactionId: interactionIdOf(form) });
    },
    renderError: renderFormError(deps, retryAddress),
  };
}

const decisions: ReadonlyMap<string, Decision> = new Map([
  ['allow', Decision.ALLOW],
  ['deny', Decision.DENY],
]);

/** POST /account: continue, or use another account (R5.4, R29.3). POST /consent: allow or deny. POST /cancel. */
export function choiceRoutes(deps: BrowserRouteDeps): readonly Route[] {
  const { authorization, cookies } = deps;
  return [
    formRoute(deps, '/account', async (at) => {
      const { outcome, sessionEnded } = await authorization.submitAccountChoice({
        interaction: at.interaction,
        useAnotherAccount: at.form.get('choice') === 'another',
      });
      return outcomeAnswer(at, outcome, sessionEnded ? cookies.clearSession() : []);
    }),
    formRoute(deps, '/consent', async (at) => {
      const decision = decisions.get(at.form.get('decision')) ?? Decision.UNSPECIFIED;
      const { outcome } = await authorization.submitConsent({ interaction: at.interaction, decision });
      return outcomeAnswer(at, outcome);
    }),
    formRoute(deps, '/cancel', async (at) => {
      const { outcome } = await authorization.cancelAuthorization({ interaction: at.interaction });
      return outcomeAnswer(at, outcome);
    }),
  ];
}

const interactionName = /^[A-Za-z0-9_-]{1,64}$/;

function interactionIdOf(form: Form): string {
  const id = form.get('interaction');
  return interactionName.test(id) ? id : '';
}

/** Another site's form gets no proof, so that the owner's interaction goes on (R6.6, R25.9). */
function interactionRef(deps: BrowserRouteDeps, request: IncomingRequest, form: Form): InteractionRef {
  const interactionId = interactionIdOf(form);
  const named = { interactionId, sealedInteraction: form.get('sealed_interaction') };
  if (isCrossSite(request)) return named;
  return { ...named, ...browserProof(deps, request, interactionId), formToken: form.get('form_token') };
}

function browserProof({ cookies }: BrowserRouteDeps, request: IncomingRequest, interactionId: string) {
  const { cookie } = request.headers;
  return {
    interactionId,
    interactionCookie: cookies.interaction(cookie, interactionId),
    browserSession: cookies.session(cookie),
  };
}

function pageAddress(page: PageName, interactionId: string): string {
  return `/${page}?interaction=${interactionId}`;
}

/** A page unknown to this version is reached from the login page. */
export function nextPageAddress(next: { readonly page: Page } | undefined, interactionId: string): string {
  return pageAddress(pages.find((name) => Page[enumKey(name)] === next?.page) ?? 'login', interactionId);
}

function retryAddress(query: Form): string | undefined {
  const id = interactionIdOf(query);
  return id === '' ? undefined : pageAddress('login', id);
}

export function startedCookies(
  { cookies }: BrowserRouteDeps,
  { headers }: IncomingRequest,
  { interactionId, interactionCookie, expiresIn }: StartedInteraction,
  by: 'start' | 'again',
): string[] {
  const own = cookies.setInteraction(interactionId, interactionCookie, expiresIn);
  return [...cookies.clearSurplusInteractions(headers.cookie, by), ...own];
}

type FormOutcome = (SubmitAccountChoiceResponse | SubmitConsentResponse)['outcome'];

/** A sealed interaction has no address: its page is shown at once. */
async function outcomeAnswer(
  at: InteractionForm,
  outcome: FormOutcome,
  cookies: readonly string[] = [],
): Promise<Answer> {
  if (outcome.case === 'redirect')
    return redirectAnswer(outcome.value.location, cookies, outcome.value.error);
  if (outcome.case !== 'next') return expiredAnswer(at.deps, at.request);
  if (at.interaction.sealedInteraction && outcome.value.page === Page.LOGIN)
    return { ...(await showPage(at, at.interaction, 'login')), cookies };
  return redirectAnswer(nextPageAddress(outcome.value, at.interactionId), cookies);
}

async function showPage(
  at: InteractionRequest,
  interaction: InteractionRef,
  page: PageName,
): Promise<Answer> {
  if (at.interactionId === '') return expiredAnswer(at.deps, at.request);
  const { view } = await at.deps.authorization.getInteraction({ interaction });
  if (view.case === 'redirect') return redirectAnswer(view.value.location, [], view.value.error);
  if (view.case === undefined || view.case === 'expired') return expiredAnswer(at.deps, at.request);
  if (page !== view.case) return redirectAnswer(pageAddress(view.case, at.interactionId));
  return showView(at, view);
}

type PageView = Extract<GetInteractionResponse['view'], { case: 'login' | 'account' | 'consent' }>;

function showView(at: InteractionRequest, view: PageView): Answer {
  if (view.case === 'login') return pageAnswer(at, view.value, loginPage);
  if (view.case === 'account') return pageAnswer(at, view.value, accountPage);
  return pageAnswer(at, view.value, consentPage);
}

export function pageAnswer<View extends { readonly page?: PageContext | undefined }>(
  { deps, request, interactionId }: InteractionRequest,
  view: View,
  render: (layout: PageLayout, content: View & InteractionFields) => string,
): Answer {
  const { clientName = '', formToken = '', sealedInteraction = '', uiLocales } = view.page ?? {};
  const fields = { interactionId, partner: clientName, formToken, sealedInteraction };
  return htmlAnswer(200, render(layoutOf(deps, request, uiLocales), { ...view, ...fields }), {
    'content-security-policy': contentSecurityPolicy(true),
  });
}
