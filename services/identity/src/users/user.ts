// users/ is the users as the platform and operators know them: import, password hashes, e-mail addresses, disabling and signing out.
// Who they prove to be is decided in login/; what they did in a browser is in authorize/.

// A user: who logs in, and the subject of every token.
//
//   imported ──► enabled ◄──► disabled
//
// - Users come by import, in batches that may be repeated (`import.ts`); the sub is opaque and never reused (R19).
// - A disabled user is refused login, exchange, refresh and user-info from the next request on. Enabling restores the
//   login, not what the disabling ended.
// - `signedOutAt` ends sessions, codes and refresh families by their time of issue (R13.5), without a search through
//   Redis. Disabling sets it too.
// - Operators read accounts, disable, enable and sign out (`admin.ts`); no one deletes them.
import type { Sub } from '../ids.ts';

export interface User {
  readonly sub: Sub;
  readonly email: string;
  readonly emailVerified: boolean;
  readonly name: string;
  readonly disabled: boolean;
  /** Milliseconds since the epoch: what was issued until then is dead (R13.5). */
  readonly signedOutAt: number | null;
}

/** `loggedInAt`: milliseconds since the epoch. */
export function isLoginValid(
  { disabled, signedOutAt }: Pick<User, 'disabled' | 'signedOutAt'>,
  loggedInAt: number,
): boolean {
  return !disabled && (signedOutAt === null || signedOutAt < loggedInAt);
}

export function whyLoginEnded(user: Pick<User, 'disabled'> | undefined) {
  if (user === undefined) return 'user_deleted';
  return user.disabled ? 'user_disabled' : 'signed_out_by_operator';
}

export interface UserWithPassword extends User {
  /** In PHC form: argon2id (R18.3), or as imported until the next login. */
  readonly passwordHash: string;
  /** SHA-256 of the hash imported last, in hex. */
  readonly importedHash: string | null;
  /** `emailKey` of the address; null or another's when an earlier version wrote it. */
  readonly emailKey: string | null;
}

export type KnownUser = Omit<UserWithPassword, 'disabled'>;

export interface UserRecord extends KnownUser {
  readonly importedHash: string;
  readonly emailKey: string;
}

/** Times in milliseconds since the epoch. */
export interface UserAccount extends Omit<KnownUser, 'importedHash' | 'emailKey'> {
  readonly createdAt: number;
  readonly disabledAt: number | null;
}

export type UserName = { readonly sub: string } | { readonly email: string };
