// A transaction in the browser, from the authorization request to the decision: its record and the rules by
// which it moves. A login form answers in any step before the decision, so Back works.
import type { RedirectedError } from './authorization-answer.ts';
import { type AuthorizationRequest, needsConsent } from './authorization-request.ts';
import { type Binding, isFormToken } from './binding.ts';
import type { ConsentId, SecretHash, Sub } from './ids.ts';
import type { Scope } from './scope.ts';
import { hashSecret, sameHash } from './secrets.ts';

/** Milliseconds that a transaction can be used … */
export const interactionValidMs = 30 * 60 * 1000;
/** … and kept, so that an expired form still finds its way back to the partner (R6). */
export const interactionKeptMs = interactionValidMs + 60 * 60 * 1000;
/** Milliseconds in which the same browser repeating its decision gets the same answer (R6). */
const repeatWindowMs = 10_000;

/** Who the transaction is about, and how they became known. */
export interface Subject {
  readonly sub: Sub;
  /** Milliseconds since the epoch. */
  readonly authTime: number;
  /**
   * `session`: was signed in before. `login`: signed in within this transaction. `login-once`: the same,
   * but asked not to be kept signed in, so no session stands behind it (R29).
   */
  readonly origin: 'session' | 'login' | 'login-once';
}

export interface Allowed {
  readonly kind: 'allowed';
  readonly subject: Subject;
  /** The consent that already covers the request; else `newConsentId` is granted or an older one extended. */
  readonly consentId?: ConsentId;
  readonly newConsentId?: ConsentId;
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

export interface Interaction {
  /** 16 random bytes, base64url; stands in URLs. */
  readonly id: string;
  readonly bindingHash: SecretHash;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly request: AuthorizationRequest;
  readonly subject?: Subject | undefined;
  /** "Continue" was chosen on the account page. */
  readonly accountConfirmed?: boolean;
  readonly decision?: Decision;
}

export type Step = 'login' | 'account' | 'consent' | 'decide';

/**
 * What comes next for an undecided transaction whose subject was checked to be still signed in; `granted`
 * are the scopes that the subject granted to the client before.
 */
export function stepOf(interaction: Interaction, granted: readonly Scope[]): Step {
  const { subject, request, accountConfirmed } = interaction;
  if (subject === undefined) return 'login';
  const asksForAccount = request.prompts.includes('select_account') && subject.origin === 'session';
  if (asksForAccount && !accountConfirmed) return 'account';
  return needsConsent(request, granted) ? 'consent' : 'decide';
}

export function isExpired({ createdAt }: Interaction, now: number): boolean {
  return now >= createdAt + interactionValidMs;
}

/** Whether a decision may still be answered again to the browser that made it (R6). */
export function isRepeatable({ at }: Decision, now: number): boolean {
  return now < at + repeatWindowMs;
}

/** Whether `presented` is the binding of this transaction: whether this browser began it. */
export function isOwner(interaction: Interaction, presented: string): presented is Binding {
  return sameHash(hashSecret(presented), interaction.bindingHash);
}

/** Whether a form came from a page of this transaction in this browser. */
export function isOwnForm(interaction: Interaction, presented: string, token: string): presented is Binding {
  return isOwner(interaction, presented) && isFormToken(token, presented, 'form');
}
