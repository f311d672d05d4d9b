// An interaction: one browser's way from the authorization request to its answer. `pageOf` and `nextStep` derive its
// state.
//
//   state     leaves by                                            to
//   login     login form                                           account, consent, complete
//   account   "continue", or "use another account"                 consent, complete; login
//   consent   "allow", "deny"                                      decided
//   complete  nothing left to ask: decided without a page          decided
//   decided   redirect to the partner, repeated for 10 s (R6.7)    -
//
// A login form is accepted in any state before the decision, so Back works; "cancel" denies in any of them. The first
// decision of a stored interaction is final. An undecided one expires after 30 minutes, or when its holder begins too
// many others. The form tokens and the authorization code are derived from its cookie (decision 0002).
import { createHmac } from 'node:crypto';
import type { Scope } from '../clients/scope.ts';
import type { ConsentId, FamilyId, SecretHash, Sub } from '../ids.ts';
import { formatToken, hashSecret, sameHash, sameText } from '../secrets.ts';
import { type AuthorizationRequest, needsConsent } from './request.ts';
import type { RedirectedError } from './response.ts';

export const interactionValidMs = 30 * 60 * 1000;
/** A repeated decision gets the same answer in this time (R6.7). */
export const repeatWindowMs = 10_000;

export interface Subject {
  readonly sub: Sub;
  /** Milliseconds since the epoch. */
  readonly authTime: number;
  /** `login-once`: no session is kept (R29.7). */
  readonly origin: 'session' | 'login' | 'login-once';
}

export interface Allowed {
  readonly kind: 'allowed';
  readonly subject: Subject;
  readonly consentId: ConsentId;
  readonly newConsent?: true;
  /** The code exists: a repeat creates nothing. */
  readonly completed?: true;
}

interface Refused {
  readonly kind: 'refused';
  readonly error: Extract<RedirectedError, 'access_denied' | 'login_required' | 'invalid_scope'>;
}

export type Outcome = Allowed | Refused;
/** `at`: milliseconds since the epoch. */
export type Decision = Outcome & { readonly at: number };

declare const brand: unique symbol;
/** 256 random bits, base64url; the store keeps its hash. */
export type InteractionCookie = string & { readonly [brand]: 'InteractionCookie' };

export interface Holder {
  readonly sub: Sub;
  readonly session?: SecretHash | undefined;
}

export interface Interaction {
  /** 16 random bytes, base64url; part of URLs. */
  readonly id: string;
  readonly cookieHash: SecretHash;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly request: AuthorizationRequest;
  readonly subject?: Subject | undefined;
  /** Survives "use another account". Absent while sealed. */
  readonly holder?: Holder | undefined;
  /** A seal must not restart a decided interaction. */
  readonly wasSealed?: true;
  readonly accountConfirmed?: boolean;
  readonly decision?: Decision | undefined;
}

export type Page = 'login' | 'account' | 'consent';

/** For an undecided interaction whose subject is still signed in; ignores grants. */
export function pageOf({ subject, request, accountConfirmed }: Interaction): Page {
  if (subject === undefined) return 'login';
  const asksForAccount = request.prompts.includes('select_account') && subject.origin === 'session';
  return asksForAccount && !accountConfirmed ? 'account' : 'consent';
}

export function nextStep(interaction: Interaction, granted: readonly Scope[]): Page | 'complete' {
  const page = pageOf(interaction);
  return page === 'consent' && !needsConsent(interaction.request, granted) ? 'complete' : page;
}

export function decided(interaction: Interaction, outcome: Outcome, at: number): Interaction {
  return { ...interaction, decision: { ...outcome, at } };
}

export function isExpired({ createdAt }: Interaction, now: number): boolean {
  return now >= createdAt + interactionValidMs;
}

export function isRepeatable({ at }: Decision, now: number): boolean {
  return now < at + repeatWindowMs;
}

export function isOwner(interaction: Interaction, presented: string): presented is InteractionCookie {
  return sameHash(hashSecret(presented), interaction.cookieHash);
}

export function isOwnForm(
  interaction: Interaction,
  presented: string,
  token: string,
): presented is InteractionCookie {
  return isOwner(interaction, presented) && isFormToken(token, presented, 'form');
}

/** The hidden field that matches the cookie. */
export function formToken(cookie: string, purpose: 'form' | 'sign-out'): string {
  return derive(cookie, purpose).toString('base64url');
}

export function accountFormToken(interactionCookie: InteractionCookie, sub: Sub): string {
  return `${formToken(interactionCookie, 'form')}.${accountPart(interactionCookie, sub)}`;
}

/** Constant time. */
export function isFormToken(presented: string, cookie: string, purpose: 'form' | 'sign-out'): boolean {
  return sameText(presented.split('.', 1)[0] ?? '', formToken(cookie, purpose));
}

/** False if the form showed no account, or another one, as in an older tab. */
export function isAboutAccount(presented: string, interactionCookie: InteractionCookie, sub: Sub): boolean {
  const [, part = ''] = presented.split('.', 2);
  return sameText(part, accountPart(interactionCookie, sub));
}

function accountPart(interactionCookie: InteractionCookie, sub: Sub): string {
  return derive(interactionCookie, `account ${sub}`).toString('base64url');
}

/** Always the same (R6.7). `code` goes to the partner, `hash` to the store. */
export function deriveCode(interactionCookie: InteractionCookie) {
  const familyId = derive(interactionCookie, 'family').subarray(0, 16).toString('base64url') as FamilyId;
  const secret = derive(interactionCookie, 'code').toString('base64url');
  return { familyId, code: formatToken(familyId, secret), hash: hashSecret(secret) };
}

function derive(key: string, label: string): Buffer {
  return createHmac('sha256', key).update(label).digest();
}
