// An interaction: one browser's way from the authorization request to its answer. Its record, its states and the rules
// by which it moves on (R5, R6). Until somebody has logged in the browser keeps the record, sealed; then Redis does.
//
//   state     leaves by                                            to
//   login     login form                                           account, consent, complete
//   account   "continue", or "use another account"                 consent, complete; login
//   consent   "allow", "deny"                                      decided
//   complete  nothing left to ask: decided without a page          decided
//   decided   the redirect to the partner, repeated for 10 s (R6)  -
//
// A state is not stored: `pageOf` and `nextStep` derive it from the record. A login form answers in any state before the
// decision, so Back works; "cancel" denies in any of them. The first decision of a stored interaction is final; an
// undecided one expires after 30 minutes, or when its holder begins too many others. Refused are forms of another browser,
// of another account than the subject, and late ones.
//
// Its cookie ties it to one browser; the form tokens and the one authorization code are derived from it (decision
// 0002).
import { createHmac } from 'node:crypto';
import type { Scope } from '../clients/scope.ts';
import type { ConsentId, FamilyId, SecretHash, Sub } from '../ids.ts';
import { formatToken, hashSecret, sameHash, sameText } from '../secrets.ts';
import { type AuthorizationRequest, needsConsent } from './request.ts';
import type { RedirectedError } from './response.ts';

/** Milliseconds from the request in which an interaction can be used. */
export const interactionValidMs = 30 * 60 * 1000;
/** Milliseconds in which the same browser repeating its decision gets the same answer (R6). */
export const repeatWindowMs = 10_000;

/** Who the interaction is about, and how they became known. */
export interface Subject {
  readonly sub: Sub;
  /** Milliseconds since the epoch. */
  readonly authTime: number;
  /**
   * `session`: was signed in before. `login`: signed in within this interaction. `login-once`: the same,
   * but asked not to be kept signed in, so there is no session (R29).
   */
  readonly origin: 'session' | 'login' | 'login-once';
}

export interface Allowed {
  readonly kind: 'allowed';
  readonly subject: Subject;
  /** The consent that covers the request. */
  readonly consentId: ConsentId;
  /** It does not yet: it is granted under this name, or an older one is extended. */
  readonly newConsent?: true;
  /** Set once the code exists: from then on a repeat creates nothing. */
  readonly completed?: true;
}

interface Refused {
  readonly kind: 'refused';
  readonly error: RedirectedError;
}

export type Outcome = Allowed | Refused;
/** `at`: milliseconds since the epoch. */
export type Decision = Outcome & { readonly at: number };

declare const brand: unique symbol;
/** 256 random bits, base64url; lives in a cookie only, the store keeps its hash (R18). */
export type InteractionCookie = string & { readonly [brand]: 'InteractionCookie' };

/** Whom an interaction is stored for: the last user that it was about, and their browser session. */
export interface Holder {
  readonly sub: Sub;
  /** Of the session cookie; absent after a login that asked not to be kept. */
  readonly session?: SecretHash | undefined;
}

export interface Interaction {
  /** 16 random bytes, base64url; part of URLs. */
  readonly id: string;
  /** Of the interaction cookie. */
  readonly cookieHash: SecretHash;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly request: AuthorizationRequest;
  readonly subject?: Subject | undefined;
  /** Stays when "use another account" takes the subject away. Absent while the interaction is sealed. */
  readonly holder?: Holder | undefined;
  /** A browser has had it sealed: the seal must not begin it anew once it is decided. */
  readonly wasSealed?: true;
  /** "Continue" was chosen on the account page. */
  readonly accountConfirmed?: boolean;
  readonly decision?: Decision | undefined;
}

/** The pages of an interaction. */
export type Page = 'login' | 'account' | 'consent';

/** The page of an undecided interaction whose subject is still signed in, as if nothing were granted yet. */
export function pageOf({ subject, request, accountConfirmed }: Interaction): Page {
  if (subject === undefined) return 'login';
  const asksForAccount = request.prompts.includes('select_account') && subject.origin === 'session';
  return asksForAccount && !accountConfirmed ? 'account' : 'consent';
}

/** What comes next; `granted` are the scopes that the subject granted to the client before. */
export function nextStep(interaction: Interaction, granted: readonly Scope[]): Page | 'complete' {
  const page = pageOf(interaction);
  return page === 'consent' && !needsConsent(interaction.request, granted) ? 'complete' : page;
}

/** The interaction with its decision; nothing changes it any more. */
export function decided(interaction: Interaction, outcome: Outcome, at: number): Interaction {
  return { ...interaction, decision: { ...outcome, at } };
}

export function isExpired({ createdAt }: Interaction, now: number): boolean {
  return now >= createdAt + interactionValidMs;
}

/** Whether a decision may still be answered again to the browser that made it (R6). */
export function isRepeatable({ at }: Decision, now: number): boolean {
  return now < at + repeatWindowMs;
}

/** Whether `presented` is the cookie of this interaction: whether this browser began it. */
export function isOwner(interaction: Interaction, presented: string): presented is InteractionCookie {
  return sameHash(hashSecret(presented), interaction.cookieHash);
}

/** Whether a form came from a page of this interaction in this browser. */
export function isOwnForm(
  interaction: Interaction,
  presented: string,
  token: string,
): presented is InteractionCookie {
  return isOwner(interaction, presented) && isFormToken(token, presented, 'form');
}

/** Hidden field of the forms that belong to the cookie value `cookie`; `purpose` keeps kinds of form apart. */
export function formToken(cookie: string, purpose: 'form' | 'sign-out'): string {
  return derive(cookie, purpose).toString('base64url');
}

/** The form token of a page that shows the account `sub`: the page's forms are about nobody else. */
export function accountFormToken(interactionCookie: InteractionCookie, sub: Sub): string {
  return `${formToken(interactionCookie, 'form')}.${accountPart(interactionCookie, sub)}`;
}

/** Whether `presented` is a form token of `cookie`, of a page with or without an account. Constant time. */
export function isFormToken(presented: string, cookie: string, purpose: 'form' | 'sign-out'): boolean {
  return sameText(presented.split('.', 1)[0] ?? '', formToken(cookie, purpose));
}

/** False for the form of a page that showed another account than `sub`, left open in another tab or by Back. */
export function isAboutAccount(presented: string, interactionCookie: InteractionCookie, sub: Sub): boolean {
  const [, part] = presented.split('.', 2);
  return part === undefined || sameText(part, accountPart(interactionCookie, sub));
}

function accountPart(interactionCookie: InteractionCookie, sub: Sub): string {
  return derive(interactionCookie, `account ${sub}`).toString('base64url');
}

/**
 * The one code of the interaction: always the same, so that there is never a second (R6). `code` goes to the partner,
 * `hash` to the store.
 */
export function deriveCode(interactionCookie: InteractionCookie) {
  const familyId = derive(interactionCookie, 'family').subarray(0, 16).toString('base64url') as FamilyId;
  const secret = derive(interactionCookie, 'code').toString('base64url');
  return { familyId, code: formatToken(familyId, secret), hash: hashSecret(secret) };
}

function derive(key: string, label: string): Buffer {
  return createHmac('sha256', key).update(label).digest();
}
