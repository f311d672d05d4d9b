// A client: a partner's application, which sends users to log in and exchanges codes (specification §1, R15).
//
//   draft ──► test ──► approved        how far its approval has come; one step up, any way down
//   inactive ◄──► active               whether it may act; what the endpoints ask, at each request
//
// - Registration makes an inactive draft. Each step up needs more of the registration (`client-registration.ts`) and
//   is recorded with who took it.
// - In production only an approved client may be active, elsewhere one in test or approved. A step down deactivates a
//   client where its new state does not allow it.
// - A deactivation holds at the next request: no login, exchange or refresh; access tokens live out their time.
// - A client has up to ten valid secrets at a time (`secret.ts`), and the redirect URIs of both environments, of which
//   an installation uses its own (R28).
// - Of operators who change the same client, one succeeds: they name the version that they have read.
// - Nobody deletes a client. Operators change one (`admin.ts`, `secret-admin.ts`) or the whole set (`apply.ts`).
import type { ClientId } from '../ids.ts';
import {
  type ClientRegistration,
  type Contact,
  type Environment,
  noTechnicalContact,
  registrationGaps,
} from './client-registration.ts';
import type { Scope } from './scope.ts';

/** What a login and a code exchange need to know. */
export interface Client {
  readonly clientId: ClientId;
  /** As the partner registered it; shown to people. */
  readonly name: string;
  readonly active: boolean;
  /** Approved scopes; never empty. */
  readonly scopes: readonly Scope[];
  /** Registered redirect URIs, compared as raw strings (R3). */
  readonly redirectUris: readonly string[];
}

export const approvalStates = ['draft', 'test', 'approved'] as const;
export type ApprovalState = (typeof approvalStates)[number];

/** The part of a client that operators change. */
export interface ClientState {
  readonly registration: ClientRegistration;
  readonly active: boolean;
  readonly approvalState: ApprovalState;
}

/** Times in milliseconds since the epoch. */
export interface RegisteredClient extends ClientState {
  /** Grows by one with each change. */
  readonly version: number;
  readonly createdAt: number;
  readonly changedAt: number;
}

/** Why `client` may not be active in `environment`, in one sentence; undefined when it may. */
export function activationObstacle(
  { registration, approvalState }: ClientState,
  environment: Environment,
): string | undefined {
  const allowed = environment === 'production' ? approvalState === 'approved' : approvalState !== 'draft';
  if (allowed) return undefined;
  const needed = environment === 'production' ? 'approved' : 'test or approved';
  return `Client ${registration.clientId} is in the state ${approvalState}; it must be ${needed} to be active in ${environment}.`;
}

/** Why `client` may not go to `next`, a sentence each; empty when it may. */
export function approvalObstacles(
  { registration, approvalState }: ClientState,
  next: ApprovalState,
): string[] {
  const steps = approvalStates.indexOf(next) - approvalStates.indexOf(approvalState);
  if (steps <= 0) return [];
  if (steps > 1) return ['It is a draft and must be in the state test first.'];
  const gaps = registrationGaps(registration);
  return next === 'approved' ? gaps : gaps.filter((gap) => gap === noTechnicalContact);
}

/** `client` in the state `next`; it stops being active where that state does not allow it. */
export function withApproval<C extends ClientState>(
  client: C,
  next: ApprovalState,
  environment: Environment,
): C {
  const changed = { ...client, approvalState: next };
  return { ...changed, active: changed.active && activationObstacle(changed, environment) === undefined };
}

/** The states from `from` to `to`, without `from`. */
export function approvalPath(from: ApprovalState, to: ApprovalState): readonly ApprovalState[] {
  const [start, end] = [approvalStates.indexOf(from), approvalStates.indexOf(to)];
  return end <= start ? (end === start ? [] : [to]) : approvalStates.slice(start + 1, end + 1);
}

/** The fields as the audit log and a plan show them, with people at the partner pseudonymized. */
export function clientFields(
  { registration, active, approvalState }: ClientState,
  pseudonymize: (text: string) => string,
): Readonly<Record<string, unknown>> {
  const contact = ({ name, email, phone }: Contact) => {
    const given = Object.entries({ name, email, phone }).filter(([, value]) => value !== '');
    return given.length === 0
      ? undefined
      : Object.fromEntries(given.map(([field, value]) => [field, pseudonymize(value)]));
  };
  const { test, production } = registration.redirectUris;
  return {
    name: registration.name,
    approval_state: approvalState,
    active,
    scopes: registration.scopes,
    'redirect_uris.test': unlessEmpty(test),
    'redirect_uris.production': unlessEmpty(production),
    technical_contact: contact(registration.technicalContact),
    credential_contacts: unlessEmpty(registration.credentialContacts.map(contact)),
    user_journey: registration.userJourney,
    logout_requirements: registration.logoutRequirements,
    unlinking_requirements: registration.unlinkingRequirements,
    retention_requirements: registration.retentionRequirements,
  };
}

/** An empty list counts as absent. */
function unlessEmpty<T>(items: readonly T[]): readonly T[] | undefined {
  return items.length === 0 ? undefined : items;
}
