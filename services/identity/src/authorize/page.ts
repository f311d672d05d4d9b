// The pages of an interaction. Reading changes nothing, but completes a decision that a crash left without a code.
import type { Scope } from '../clients/scope.ts';
import { findConsent } from '../consents/consent-table.ts';
import { completeDecision } from './finish.ts';
import { findAnswerableClient, findPresented, isOpen, type OwnedForm, type PresentedForm } from './form.ts';
import { accountFormToken, formToken, isOwner, pageOf } from './interaction.ts';
import type { PartnerRedirect } from './response.ts';
import { type Account, accountOf, findSignedIn, findSubject, type StepDeps } from './signed-in-user.ts';

interface PageContext {
  readonly clientName: string;
  readonly formToken: string;
  readonly sealedInteraction: string;
  readonly uiLocales: string;
}

export interface LoginPage {
  readonly kind: 'login';
  readonly page: PageContext;
  readonly email: string;
  /** Signed in while the form asks for the password again (R5.3). */
  readonly account?: Account;
}

interface ConsentPage {
  readonly kind: 'consent';
  readonly page: PageContext;
  readonly account: Account;
  readonly scopes: Scope[];
  readonly scopesGrantedBefore: Scope[];
}

export type View =
  | LoginPage
  | { readonly kind: 'account'; readonly page: PageContext; readonly account: Account }
  | ConsentPage
  | PartnerRedirect
  | { readonly kind: 'expired' };

export async function getInteraction(deps: StepDeps, form: PresentedForm): Promise<View> {
  const stored = await findPresented(deps, form);
  const { interactionCookie } = form;
  if (
    stored === undefined ||
    !isOwner(stored.interaction, interactionCookie) ||
    !isOpen(stored.interaction, deps.now())
  )
    return { kind: 'expired' };
  const client = await findAnswerableClient(deps, stored.interaction);
  const { decision } = stored.interaction;
  if (decision === undefined)
    return viewOf(deps, { kind: 'owned', stored, interactionCookie, client }, form.browserSession);
  return completeDecision(deps, stored, decision, interactionCookie);
}

async function viewOf(deps: StepDeps, own: OwnedForm, cookie: string): Promise<View> {
  const { interaction } = own.stored;
  const user = await findSubject(deps, interaction, cookie);
  if (user === undefined) return loginPage(deps, own, cookie);
  const account = accountOf(user);
  const page = { ...pageContext(own), formToken: accountFormToken(own.interactionCookie, user.sub) };
  if (pageOf(interaction) === 'account') return { kind: 'account', page, account };
  const consent = await findConsent(deps.database, user.sub, own.client.clientId);
  const scopes = [...interaction.request.scopes];
  const scopesGrantedBefore = scopes.filter((scope) => consent?.scopes.includes(scope));
  deps.observe({ event: 'consent_shown', client: own.client.clientId });
  return { kind: 'consent', page, account, scopes, scopesGrantedBefore };
}

export async function loginPage(
  deps: StepDeps,
  own: OwnedForm,
  cookie: string,
  typedEmail?: string,
): Promise<LoginPage> {
  const { loginHint, hintedSub } = own.stored.interaction.request;
  const user = (await findSignedIn(deps, cookie))?.user;
  const askedAgain = hintedSub === undefined || hintedSub === user?.sub ? user?.email : undefined;
  const email = typedEmail ?? (loginHint || (askedAgain ?? ''));
  return { kind: 'login', page: pageContext(own), email, ...(user && { account: accountOf(user) }) };
}

function pageContext({ interactionCookie, client, stored }: OwnedForm): PageContext {
  const { interaction } = stored;
  return {
    clientName: client.name,
    formToken: formToken(interactionCookie, 'form'),
    sealedInteraction: stored.kind === 'sealed' ? stored.sealed : '',
    uiLocales: interaction.request.uiLocales,
  };
}
