// A submitted login form: credentials, a fresh browser session, and on with the transaction.

import { errorLocation } from '../domain/authorization-answer.ts';
import type { BrowserSession } from '../domain/browser-session.ts';
import type { Subject } from '../domain/interaction.ts';
import { isComplete, readEmail } from '../domain/login-form.ts';
import { newSecret } from '../domain/secrets.ts';
import { type CredentialsCheck, type CredentialsNeeds, checkCredentials } from './credentials.ts';
import type { AuthorizationDependencies } from './dependencies.ts';
import { type LoginPage, loginPage } from './get-interaction.ts';
import { type DeadForm, type OwnForm, openForm, type PresentedForm } from './held-form.ts';
import { type MoveNeeds, moveOn } from './move.ts';
import type { SignedInNeeds } from './signed-in-user.ts';

export interface LoginForm extends PresentedForm {
  readonly email: string;
  readonly password: string;
  /** "Shared computer: do not keep me signed in" (R29). */
  readonly forgetMe: boolean;
  readonly clientAddress: string;
}

export interface RejectedLogin {
  readonly kind: 'rejected';
  readonly reason: 'credentials' | 'throttled' | 'incomplete';
  /** 0 unless throttled. */
  readonly retryAfterSeconds: number;
  readonly view: LoginPage;
}

/** `browserSession`: the new session cookie; empty when the user asked not to be kept signed in. */
export type LoginOutcome =
  | { readonly kind: 'accepted'; readonly browserSession: string }
  | { readonly kind: 'redirect'; readonly location: string; readonly browserSession: string }
  | RejectedLogin
  | DeadForm;

type Needed = CredentialsNeeds &
  MoveNeeds &
  SignedInNeeds &
  Pick<AuthorizationDependencies, 'findClient' | 'createSession'>;

/**
 * Signs the user in and moves the transaction on. Accepted in any step before the decision, and after it
 * within 10 s for the same user (a double click). The password is looked at only for the owner's form.
 */
export async function submitLogin(deps: Needed, form: LoginForm): Promise<LoginOutcome> {
  const own = await openForm(deps, form);
  if (own.kind !== 'own') return own;
  const email = readEmail(form.email);
  if (!isComplete(email, form.password)) return rejected(deps, own, form, 'incomplete');
  const { password, clientAddress } = form;
  const check = await checkCredentials(deps, { email, password, clientAddress });
  if (check.kind === 'throttled') return rejected(deps, own, form, 'throttled', check.retryAfterSeconds);
  if (check.kind === 'wrong') return rejected(deps, own, form, 'credentials');
  return signIn(deps, own, form, check);
}

/** A decided transaction has no login form to show again: its form is a dead one. */
async function rejected(
  deps: Needed,
  own: OwnForm,
  { email, browserSession }: LoginForm,
  reason: RejectedLogin['reason'],
  retryAfterSeconds = 0,
): Promise<RejectedLogin | DeadForm> {
  const { request, decision } = own.held.interaction;
  if (decision) return { kind: 'foreign', location: errorLocation(request, 'invalid_request') };
  const view = await loginPage(deps, own, browserSession, email);
  return { kind: 'rejected', reason, retryAfterSeconds, view };
}

async function signIn(
  deps: Needed,
  own: OwnForm,
  form: LoginForm,
  { user: { sub } }: CredentialsCheck & { kind: 'accepted' },
): Promise<LoginOutcome> {
  const authTime = deps.now();
  const browserSession = form.forgetMe ? '' : newSecret(deps.randomBytes);
  const session: BrowserSession = { sub, authTime, lastUsed: authTime };
  // The session comes first: a crash before the next step leaves one that nobody has the cookie of.
  if (browserSession !== '') await deps.createSession(browserSession, session);
  const subject: Subject = { sub, authTime, origin: form.forgetMe ? 'login-once' : 'login' };
  const move = await moveOn(deps, own, subject, (interaction) => ({ ...interaction, subject }));
  if (move.kind === 'foreign' || move.kind === 'expired') {
    await deps.endSession(browserSession);
    return move;
  }
  // A login takes the place of the session before it, whoever it was of (R29).
  await deps.endSession(form.browserSession);
  return move.kind === 'next' ? { kind: 'accepted', browserSession } : { ...move, browserSession };
}
