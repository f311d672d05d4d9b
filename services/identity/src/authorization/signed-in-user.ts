// Who is signed in: a session and a login count only while their user may still sign in (R13, R29).
import type { BrowserSession } from '../domain/browser-session.ts';
import type { Interaction } from '../domain/interaction.ts';
import type { User } from '../store/postgres/users.ts';
import type { AuthorizationDependencies } from './dependencies.ts';

export type SignedInNeeds = Pick<
  AuthorizationDependencies,
  'findSession' | 'findUser' | 'endSession' | 'now'
>;

export interface SignedIn {
  readonly session: BrowserSession;
  readonly user: User;
}

/** Whether a login of `authTime` still stands: the user exists, is enabled and was not signed out since. */
function stands(user: User | undefined, authTime: number): user is User {
  return user !== undefined && !user.disabled && (user.signedOutAt === null || user.signedOutAt < authTime);
}

/** The session of the cookie and its user; ends a session whose user may no longer sign in. */
export async function findSignedIn(deps: SignedInNeeds, cookie: string): Promise<SignedIn | undefined> {
  const session = await deps.findSession(cookie, deps.now());
  if (session === undefined) return undefined;
  const user = await deps.findUser(session.sub);
  if (stands(user, session.authTime)) return { session, user };
  await deps.endSession(cookie);
  return undefined;
}

/**
 * The user that a transaction is about, while still signed in; undefined: the login form comes next. A
 * transaction rests on this browser's session being the subject's; which of the subject's sessions it is
 * does not matter, so that a login in another tab disturbs nothing. A login that asked not to be kept
 * (`login-once`) rests on the transaction alone.
 */
export async function findSubject(
  deps: SignedInNeeds,
  { subject }: Interaction,
  cookie: string,
): Promise<User | undefined> {
  if (subject === undefined) return undefined;
  if (subject.origin === 'login-once') {
    const user = await deps.findUser(subject.sub);
    return stands(user, subject.authTime) ? user : undefined;
  }
  const signedIn = await findSignedIn(deps, cookie);
  return signedIn?.session.sub === subject.sub ? signedIn.user : undefined;
}
