// The secret that binds a transaction to one browser, and what follows from it: the transaction's form token
// and its one authorization code (docs/decisions/0002-derived-authorization-codes.md).
import { createHmac } from 'node:crypto';
import type { FamilyId, SecretHash, Sub } from './ids.ts';
import { hashSecret, sameText } from './secrets.ts';
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

/** The form token of a page that shows the account `sub`: the page's forms are about nobody else. */
export function accountFormToken(binding: Binding, sub: Sub): string {
  return `${formToken(binding, 'form')}.${accountPart(binding, sub)}`;
}

/** Whether `presented` is a form token of `cookie`, of a page with or without an account. Constant time. */
export function isFormToken(presented: string, cookie: string, purpose: 'form' | 'sign-out'): boolean {
  return sameText(presented.split('.', 1)[0] ?? '', formToken(cookie, purpose));
}

/** False for the form of a page that showed another account than `sub`, left open in another tab or by Back. */
export function isAboutAccount(presented: string, binding: Binding, sub: Sub): boolean {
  const [, part] = presented.split('.', 2);
  return part === undefined || sameText(part, accountPart(binding, sub));
}

function accountPart(binding: Binding, sub: Sub): string {
  return derive(binding, `account ${sub}`).toString('base64url');
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
