// Shows the page at which a transaction stands.
import type {
  AccountView,
  ConsentView,
  LoginView,
  PageContext,
} from '@course-exchange/proto/identity/v1/authorization';
import { type Answer, htmlAnswer } from '../answer.ts';
import { accountPage } from '../pages/account-page.ts';
import { consentPage } from '../pages/consent-page.ts';
import { type LoginContent, loginPage } from '../pages/login-page.ts';
import { contentSecurityPolicy } from '../security-headers.ts';
import type { IncomingRequest } from '../wire/incoming-request.ts';
import { frameOf, type Site } from './site.ts';

/** Where and for whom a view is shown. */
export interface ViewPlace {
  readonly site: Site;
  readonly request: IncomingRequest;
  readonly interactionId: string;
}

/** What a failed try adds to the login page. */
export type LoginAttempt = Pick<LoginContent, 'email' | 'forgetMe' | 'problem'>;

export function showLogin(place: ViewPlace, view: LoginView, attempt?: LoginAttempt): Answer {
  const frame = frameOf(place.site, place.request, view.page?.uiLocales);
  const content = attempt ?? { email: view.email, forgetMe: false, problem: undefined };
  return shown(
    view.page,
    loginPage(frame, { ...pageFacts(place, view.page), account: view.account, ...content }),
  );
}

export function showAccount(place: ViewPlace, view: AccountView): Answer {
  const frame = frameOf(place.site, place.request, view.page?.uiLocales);
  return shown(view.page, accountPage(frame, { ...pageFacts(place, view.page), account: view.account }));
}

export function showConsent(place: ViewPlace, view: ConsentView): Answer {
  const frame = frameOf(place.site, place.request, view.page?.uiLocales);
  const content = {
    ...pageFacts(place, view.page),
    account: view.account,
    scopes: view.scopes,
    scopesGrantedBefore: view.scopesGrantedBefore,
  };
  return shown(view.page, consentPage(frame, content));
}

function pageFacts({ interactionId }: ViewPlace, page: PageContext | undefined) {
  return { interactionId, partner: page?.clientName ?? '', formToken: page?.formToken ?? '' };
}

function shown(page: PageContext | undefined, body: string): Answer {
  return htmlAnswer(200, body, {
    'content-security-policy': contentSecurityPolicy(Boolean(page?.redirectOrigin)),
  });
}
