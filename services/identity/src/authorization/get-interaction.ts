// What the owner of a transaction sees now. Reading changes nothing, so reload and Back work; only a decision
// that a crash left without its code is completed.
import { accountFormToken, formToken } from '../domain/binding.ts';
import { isOwner, stepOf } from '../domain/interaction.ts';
import { emailToFillIn } from '../domain/login-form.ts';
import { originOf } from '../domain/redirect-uri.ts';
import type { Scope } from '../domain/scope.ts';
import type { User } from '../store/postgres/users.ts';
import { completeDecision } from './decision.ts';
import type { AuthorizationDependencies } from './dependencies.ts';
import { findAnswerableClient, isOpen, type OwnForm, type PresentedForm } from './held-form.ts';
import type { MoveNeeds } from './move.ts';
import { findSignedIn, findSubject, type SignedInNeeds } from './signed-in-user.ts';

interface PageContext {
  readonly clientName: string;
  readonly formToken: string;
  readonly uiLocales: string;
  readonly redirectOrigin: string;
}

export interface Account {
  readonly name: string;
  readonly email: string;
}

export interface LoginPage {
  readonly kind: 'login';
  readonly page: PageContext;
  /** To fill in; may be empty. */
  readonly email: string;
  /** Who is signed in while the form asks for the password again (R5). */
  readonly account: Account | undefined;
}

interface ConsentPage {
  readonly kind: 'consent';
  readonly page: PageContext;
  readonly account: Account;
  readonly scopes: readonly Scope[];
  readonly scopesGrantedBefore: readonly Scope[];
}

export type View =
  | LoginPage
  | { readonly kind: 'account'; readonly page: PageContext; readonly account: Account }
  | ConsentPage
  | { readonly kind: 'redirect'; readonly location: string }
  | { readonly kind: 'expired' };

type Needed = MoveNeeds &
  Pick<AuthorizationDependencies, `find${'Client' | 'User' | 'Session'}` | 'endSession'>;

/** The page of a transaction. Throws as `openForm` does when the client may no longer be answered. */
export async function getInteraction(deps: Needed, form: PresentedForm): Promise<View> {
  const held = await deps.findInteraction(form.interactionId);
  if (held === undefined || !isOwner(held.interaction, form.binding) || !isOpen(held.interaction, deps.now()))
    return { kind: 'expired' };
  const client = await findAnswerableClient(deps, held.interaction);
  const own: OwnForm = { kind: 'own', held, binding: form.binding, client };
  const { decision } = held.interaction;
  if (decision === undefined) return pageOf(deps, own, form.browserSession);
  return { kind: 'redirect', location: await completeDecision(deps, held, decision, own.binding) };
}

async function pageOf(deps: Needed, own: OwnForm, cookie: string): Promise<View> {
  const { interaction } = own.held;
  const user = await findSubject(deps, interaction, cookie);
  if (user === undefined) return loginPage(deps, own, cookie);
  const consent = await deps.findConsent(user.sub, own.client.clientId);
  const granted = consent?.scopes ?? [];
  const account = accountOf(user);
  const page = { ...pageContext(own), formToken: accountFormToken(own.binding, user.sub) };
  if (stepOf(interaction, granted) === 'account') return { kind: 'account', page, account };
  // A consent given in another tab meanwhile leaves nothing to ask; the page then only asks to go on.
  const { scopes } = interaction.request;
  const scopesGrantedBefore = scopes.filter((scope) => granted.includes(scope));
  return { kind: 'consent', page, account, scopes, scopesGrantedBefore };
}

/**
 * The login form of a transaction, with whoever is signed in in this browser. `typedEmail` is what was typed
 * before; else the partner's hint is filled in, else the e-mail of the one who is asked again.
 */
export async function loginPage(
  deps: SignedInNeeds,
  own: OwnForm,
  cookie: string,
  typedEmail?: string,
): Promise<LoginPage> {
  const { loginHint, hintedSub } = own.held.interaction.request;
  const user = (await findSignedIn(deps, cookie))?.user;
  const askedAgain = hintedSub === undefined || hintedSub === user?.sub ? user?.email : undefined;
  const email = typedEmail ?? (emailToFillIn(loginHint) || (askedAgain ?? ''));
  return { kind: 'login', page: pageContext(own), email, account: user && accountOf(user) };
}

/** What a person may see of their own account. */
export function accountOf({ name, email }: User): Account {
  return { name, email };
}

function pageContext({ binding, client, held: { interaction } }: OwnForm): PageContext {
  return {
    clientName: client.name,
    formToken: formToken(binding, 'form'),
    uiLocales: interaction.request.uiLocales,
    redirectOrigin: originOf(interaction.request.redirectUri),
  };
}
