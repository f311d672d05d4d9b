// The user signed in in a browser, and the sign-out page (R29.4).
import type { ClientId } from '../ids.ts';
import type { LoginDeps } from '../login/credentials.ts';
import type { RequestLog } from '../request-log.ts';
import type { ReasonOf } from '../security-events.ts';
import { isLoginValid, type User, whyLoginEnded } from '../users/user.ts';
import { findUser } from '../users/user-table.ts';
import { formToken, type Interaction, isFormToken } from './interaction.ts';
import type { InteractionSeal } from './interaction-store.ts';
import { type BrowserSession, endSession, findSession } from './session-store.ts';

/** Stores throw `temporarily_unavailable` when they do not answer (R14.1). */
export interface StepDeps
  extends Pick<LoginDeps, 'database' | 'redis' | 'randomBytes' | 'now'>,
    Pick<RequestLog, 'observe'> {
  readonly seal: InteractionSeal;
}

interface SignedIn {
  readonly session: BrowserSession;
  readonly user: User;
}

/** Ends a session whose login is no longer valid (R29.5). */
export async function findSignedIn(deps: StepDeps, cookie: string): Promise<SignedIn | undefined> {
  const session = await findSession(deps.redis, cookie, deps.now());
  if (session === undefined) return undefined;
  const user = await findUser(deps.database, session.sub);
  if (user && isLoginValid(user, session.authTime)) return { session, user };
  await signOut(deps, cookie, whyLoginEnded(user));
  return undefined;
}

/** `client`: whose flow it is. */
export async function signOut(
  { redis, observe }: Pick<StepDeps, 'redis' | 'observe'>,
  cookie: string,
  reason: ReasonOf<'session.ended'>,
  client?: ClientId,
): Promise<void> {
  const sub = await endSession(redis, cookie);
  if (sub) observe({ event: 'session.ended', client, sub, reason });
}

/** By any session of the subject in this browser; `login-once` needs none. */
export async function findSubject(
  deps: StepDeps,
  { subject }: Interaction,
  cookie: string,
): Promise<User | undefined> {
  if (subject === undefined) return undefined;
  if (subject.origin === 'login-once') {
    const user = await findUser(deps.database, subject.sub);
    return user && isLoginValid(user, subject.authTime) ? user : undefined;
  }
  const signedIn = await findSignedIn(deps, cookie);
  return signedIn?.session.sub === subject.sub ? signedIn.user : undefined;
}

export type Account = Pick<User, 'name' | 'email'>;

export function accountOf({ name, email }: User): Account {
  return { name, email };
}

/** With the hidden field of the sign-out form. Does not prolong the session. */
export async function getBrowserSession(
  deps: StepDeps,
  cookie: string,
): Promise<{ readonly account?: Account; readonly formToken: string }> {
  const signedIn = await findSignedIn(deps, cookie);
  if (signedIn === undefined) return { formToken: '' };
  return { account: accountOf(signedIn.user), formToken: formToken(cookie, 'sign-out') };
}

export async function endBrowserSession(
  deps: Pick<StepDeps, 'redis' | 'observe'>,
  cookie: string,
  presentedToken: string,
): Promise<boolean> {
  if (!isFormToken(presentedToken, cookie, 'sign-out')) return false;
  await signOut(deps, cookie, 'sign_out');
  return true;
}
