// authorize/ is the way of a browser from /authorize to the redirect: the request's checks, the login, account and consent forms, and
// the code at the end. It decides what is asked and what a form does; the pages are the gateway's. Passwords are verified in login/,
// consents kept in consents/, codes redeemed in token/.

// An interaction: one browser's way from the authorization request to the response. `pageOf` derives its state, `step` takes
// it to the next one.
//
//   state     leaves by                                            to
//   login     logged_in                                            account, consent, decided
//   account   account_confirmed; another_account                   consent, decided; login
//   consent   allowed                                              decided
//   decided   redirect to the partner, repeated for 10 s (R6.7)    -
//
// A login form is accepted in any state before the decision, so Back works; `denied` ends any of them. The first
// decision of a stored interaction is final. An undecided one expires after 30 minutes, or when its holder begins too
// many others. The form tokens and the authorization code are derived from its cookie (decision 0002).
import { createHmac } from 'node:crypto';
import type { Brand } from '@course-exchange/rules/brand';
import { isWithin, type Scope } from '../clients/scope.ts';
import type { ConsentId, FamilyId, SecretHash, Sub } from '../ids.ts';
import { formatToken, hashSecret, sameHash, sameText } from '../secrets.ts';
import { type AuthorizationRequest, isHinted, needsConsent } from './request.ts';
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
  readonly newConsent?: true | undefined;
  /** The code exists: a repeat creates nothing. */
  readonly completed?: true | undefined;
}

interface Refused {
  readonly kind: 'refused';
  readonly error: Extract<RedirectedError, 'access_denied' | 'login_required' | 'invalid_scope'>;
}

type Outcome = Allowed | Refused;
/** `at`: milliseconds since the epoch. */
export type Decision = Outcome & { readonly at: number };

/** 256 random bits, base64url; the store keeps its hash. */
export type InteractionCookie = Brand<string, 'InteractionCookie'>;

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
  readonly wasSealed?: true | undefined;
  readonly accountConfirmed?: boolean | undefined;
  readonly decision?: Decision | undefined;
}

export type Page = 'login' | 'account' | 'consent';

/** For an undecided interaction whose subject is still signed in; ignores grants. */
export function pageOf({ subject, request, accountConfirmed }: Interaction): Page {
  if (subject === undefined) return 'login';
  const asksForAccount = request.prompts.includes('select_account') && subject.origin === 'session';
  return asksForAccount && !accountConfirmed ? 'account' : 'consent';
}

/** Whether nothing is left to ask, all being `granted` (R6.2). */
export function isComplete(interaction: Interaction, granted: readonly Scope[]): boolean {
  return pageOf(interaction) === 'consent' && !needsConsent(interaction.request, granted);
}

interface Consent {
  readonly consentId: ConsentId;
  readonly scopes: readonly Scope[];
}

/** `approved`: the client's scopes now. `consent`: the subject's with that client. `at`: milliseconds since the epoch. */
interface OfSubject {
  readonly subject: Subject;
  readonly approved: readonly Scope[];
  readonly at: number;
}
interface WithConsent extends OfSubject {
  readonly consent: Consent | undefined;
}

/** What a form does. */
export type Event =
  | ({ readonly kind: 'logged_in'; readonly holder: Holder } & WithConsent)
  | ({ readonly kind: 'account_confirmed' } & WithConsent)
  | { readonly kind: 'another_account' }
  | ({ readonly kind: 'allowed'; readonly consentId: ConsentId } & OfSubject)
  | { readonly kind: 'denied'; readonly at: number };

/** A form about another subject, as in an older tab, changes nothing; nor does any after the decision. */
export function step(interaction: Interaction, event: Event): Interaction {
  if (interaction.decision) return interaction;
  switch (event.kind) {
    case 'logged_in':
      return settled({ ...interaction, subject: event.subject, holder: event.holder }, event);
    case 'account_confirmed':
      return isAbout(interaction, event)
        ? settled({ ...interaction, accountConfirmed: true }, event)
        : interaction;
    case 'another_account': {
      const { subject: _, accountConfirmed: __, ...rest } = interaction;
      return rest;
    }
    case 'allowed':
      return isAbout(interaction, event) && pageOf(interaction) === 'consent'
        ? allowed(interaction, event)
        : interaction;
    case 'denied':
      return refused(interaction, 'access_denied', event.at);
  }
}

/** Whether the decision is what the event asks for: the subject's code, a refusal that nobody asked for, or the denial. */
export function answers(decision: Decision, event: Event): boolean {
  if (event.kind === 'another_account') return false;
  const isDenied = decision.kind === 'refused' && decision.error === 'access_denied';
  if (event.kind === 'denied') return isDenied;
  return decision.kind === 'allowed' ? decision.subject.sub === event.subject.sub : !isDenied;
}

function isAbout({ subject }: Interaction, event: OfSubject): boolean {
  return subject?.sub === event.subject.sub;
}

/** Decides if another user is hinted at (R5.19), a scope was lost (R6.5), or nothing is left to ask. */
function settled(interaction: Interaction, { subject, approved, consent, at }: WithConsent): Interaction {
  const { request } = interaction;
  if (!isHinted(request, subject.sub)) return refused(interaction, 'login_required', at);
  if (!isWithin(request.scopes, approved)) return refused(interaction, 'invalid_scope', at);
  if (!consent || !isComplete(interaction, consent.scopes)) return interaction;
  return decided(interaction, { kind: 'allowed', subject, consentId: consent.consentId, at });
}

function allowed(
  interaction: Interaction,
  { subject, consentId, approved, at }: OfSubject & Pick<Consent, 'consentId'>,
) {
  if (!isWithin(interaction.request.scopes, approved)) return refused(interaction, 'invalid_scope', at);
  return decided(interaction, { kind: 'allowed', subject, consentId, newConsent: true, at });
}

function refused(interaction: Interaction, error: Refused['error'], at: number): Interaction {
  return decided(interaction, { kind: 'refused', error, at });
}

function decided(interaction: Interaction, decision: Decision): Interaction {
  return { ...interaction, decision };
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
