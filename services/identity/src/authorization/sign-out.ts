// The sign-out page: who is signed in, and the end of the browser session (R29).
import { formToken, isFormToken } from '../domain/binding.ts';
import type { AuthorizationDependencies } from './dependencies.ts';
import { type Account, accountOf } from './get-interaction.ts';
import { findSignedIn, type SignedInNeeds } from './signed-in-user.ts';

export interface CurrentSession {
  /** Undefined when nobody is signed in. */
  readonly account: Account | undefined;
  /** Hidden field of the sign-out form; empty when nobody is signed in. */
  readonly formToken: string;
}

/** Who is signed in. Looking is no use of the session: its end does not move. */
export async function getBrowserSession(deps: SignedInNeeds, cookie: string): Promise<CurrentSession> {
  const signedIn = await findSignedIn(deps, cookie);
  if (signedIn === undefined) return { account: undefined, formToken: '' };
  return { account: accountOf(signedIn.user), formToken: formToken(cookie, 'sign-out') };
}

/** Ends the session when the form is its own; false when it is not: then nothing changed. */
export async function endBrowserSession(
  { endSession }: Pick<AuthorizationDependencies, 'endSession'>,
  cookie: string,
  presentedToken: string,
): Promise<boolean> {
  if (!isFormToken(presentedToken, cookie, 'sign-out')) return false;
  await endSession(cookie);
  return true;
}
