// A user: who logs in, and the subject of every token. Identity keeps the account; nobody registers here.
//
//   imported ──► enabled ◄──► disabled
//
// - Users come by import, in batches that may be repeated (`import.ts`); the sub is opaque and never reused (R19).
// - A disabled user is refused login, code exchange, refresh and user-info from the next request on. Enabling brings
//   back the login, not what the disabling ended.
// - `signedOutAt` ends browser sessions, codes and refresh families by their time of issue, without a search through
//   Redis (R13). Disabling sets it too.
// - The password hash is ours (argon2id) or another system's until the next login (`login/`). It never leaves.
// - Operators read accounts, disable, enable and sign out (`admin.ts`); nobody deletes one.
import type { Sub } from '../ids.ts';

/** What tokens and user-info say of a user, and whether it may act. */
export interface User {
  readonly sub: Sub;
  readonly email: string;
  readonly emailVerified: boolean;
  readonly name: string;
  readonly disabled: boolean;
  /** Milliseconds since the epoch: what was issued up to here is dead (R13). */
  readonly signedOutAt: number | null;
}

/** Whether a login at `loggedInAt` (milliseconds since the epoch), and what was issued for it, still counts (R13). */
export function isLoginValid(
  { disabled, signedOutAt }: Pick<User, 'disabled' | 'signedOutAt'>,
  loggedInAt: number,
): boolean {
  return !disabled && (signedOutAt === null || signedOutAt < loggedInAt);
}

/** Why a login of `user` that no longer counts does not. */
export function whyLoginEnded(user: Pick<User, 'disabled'> | undefined) {
  if (user === undefined) return 'user_deleted';
  return user.disabled ? 'user_disabled' : 'signed_out_by_operator';
}

export interface UserWithPassword extends User {
  /** In PHC form: argon2id (R18), or as imported until the next login. */
  readonly passwordHash: string;
  /** SHA-256 of the hash that was imported last, in hex; null when none ever was. */
  readonly importedHash: string | null;
}

/** A user to import, checked. */
export interface UserRecord
  extends Pick<
    UserWithPassword,
    'sub' | 'email' | 'emailVerified' | 'name' | 'passwordHash' | 'signedOutAt'
  > {
  /** SHA-256 of the imported hash, in hex. */
  readonly importedHash: string;
}

export interface KnownUser extends Omit<UserRecord, 'importedHash'> {
  /** Null when the password never was imported. */
  readonly importedHash: string | null;
}

/** An account as operators see it. Times in milliseconds since the epoch. */
export interface UserAccount extends Omit<UserRecord, 'importedHash'> {
  readonly createdAt: number;
  readonly disabledAt: number | null;
}

export type UserName = { readonly sub: string } | { readonly email: string };
