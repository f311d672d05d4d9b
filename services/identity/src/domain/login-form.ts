// What a submitted login form must hold before its password is looked at.
import { createHmac } from 'node:crypto';
import { foldEmail } from './email.ts';

/** Longest e-mail address in characters (RFC 5321 leaves 254). */
const longestEmail = 254;
/** Longest password in bytes of UTF-8: far beyond people, short of a burden. */
const longestPassword = 1024;

/** An e-mail as typed, without the blanks around it: a phone's keyboard adds them. */
export function readEmail(typed: string): string {
  return typed.trim();
}

/** Whether both fields are filled in and not over their lengths. The password is taken as typed. */
export function isComplete(email: string, password: string): boolean {
  const fits = email.length <= longestEmail && Buffer.byteLength(password) <= longestPassword;
  return email !== '' && password !== '' && fits;
}

/** An e-mail to fill in (login_hint): what could not be submitted is not filled in. */
export function emailToFillIn(hint: string): string {
  return hint.length <= longestEmail ? hint : '';
}

/**
 * Name under which failures of an account are counted; unknown e-mails count alike (R30). Keyed, so that
 * whoever reads the store cannot try e-mails against it.
 */
export function accountKey(key: Buffer, email: string): string {
  const digest = createHmac('sha256', key)
    .update(`login ${foldEmail(email)}`)
    .digest();
  return digest.subarray(0, 16).toString('base64url');
}
