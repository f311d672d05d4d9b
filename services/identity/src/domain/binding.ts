// The secret that binds a transaction to one browser, and what follows from it: the transaction's form token
// and its one authorization code (docs/decisions/0002-derived-authorization-codes.md).
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { FamilyId, SecretHash } from './ids.ts';
import { hashSecret } from './secrets.ts';
import { formatToken } from './token-string.ts';

declare const brand: unique symbol;
/** 256 random bits, base64url; lives in a cookie only, the store keeps its hash (R18). */
export type Binding = string & { readonly [brand]: 'Binding' };

/** An authorization code before it is written down: `code` goes to the partner, `hash` to the store. */
export interface DerivedCode {
  readonly family: FamilyId;
  readonly code: string;
  readonly hash: SecretHash;
}

/** Hidden field of the forms that belong to the cookie value `cookie`; `purpose` keeps kinds of form apart. */
export function formToken(cookie: string, purpose: 'form' | 'sign-out'): string {
  return derive(cookie, purpose).toString('base64url');
}

/** Whether `presented` is the form token of `cookie`. Constant time. */
export function isFormToken(presented: string, cookie: string, purpose: 'form' | 'sign-out'): boolean {
  const [expected, given] = [Buffer.from(formToken(cookie, purpose)), Buffer.from(presented)];
  return expected.length === given.length && timingSafeEqual(expected, given);
}

/** The one code of the binding's transaction: always the same, so that there is never a second (R6). */
export function deriveCode(binding: Binding): DerivedCode {
  const family = derive(binding, 'family').subarray(0, 16).toString('base64url') as FamilyId;
  const secret = derive(binding, 'code').toString('base64url');
  return { family, code: formatToken(family, secret), hash: hashSecret(secret) };
}

function derive(key: string, label: string): Buffer {
  return createHmac('sha256', key).update(label).digest();
}
