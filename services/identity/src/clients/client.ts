// clients/ is the partners' applications: registrations, approvals, secrets and scopes, as operators change them and as requests read
// them. A client proves who it is in token/; what it did stands in conduct/.

// A client: a partner's application, which sends users to log in and exchanges codes (specification §1, R15).
//
//   draft ──► test ──► approved        its approval: one step up, any way down
//   inactive ◄──► active               whether it may act, asked at each request
//
// - Registration makes an inactive draft. Each step up needs more of the registration (`client-registration.ts`) and
//   records who took it.
// - Only an approved client may be active in production, elsewhere one in test or approved. A step down deactivates a
//   client whose new state does not allow it.
// - A deactivation holds at the next request; access tokens live out their time.
// - A client has up to ten valid secrets (`secret.ts`), and redirect URIs for both environments.
// - One of the operators who change the same client succeeds: they name the version that they have read. An approval is of
//   that version; in production an edit that adds to an approved client approves its result (`approval.ts`).
// - Operators change one client (`admin.ts`, `approval.ts`, `secret-admin.ts`) or the whole set (`apply.ts`); no one deletes them.
import type { ClientId } from '../ids.ts';
import {
  type ClientRegistration,
  type Contact,
  type Environment,
  noTechnicalContact,
  registrationGaps,
} from './client-registration.ts';
import type { Scope } from './scope.ts';

export interface Client {
  readonly clientId: ClientId;
  readonly name: string;
  readonly active: boolean;
  /** Approved; never empty. */
  readonly scopes: readonly Scope[];
  /** Compared as raw strings (R3.1). */
  readonly redirectUris: readonly string[];
}

export const approvalStates = ['draft', 'test', 'approved'] as const;
export type ApprovalState = (typeof approvalStates)[number];

export interface ClientState {
  readonly registration: ClientRegistration;
  readonly active: boolean;
  readonly approvalState: ApprovalState;
}

/** Times in milliseconds since the epoch. */
export interface RegisteredClient extends ClientState {
  readonly version: number;
  readonly createdAt: number;
  readonly changedAt: number;
}

export function activationObstacle(
  { registration, approvalState }: ClientState,
  environment: Environment,
): string | undefined {
  const allowed = environment === 'production' ? approvalState === 'approved' : approvalState !== 'draft';
  if (allowed) return undefined;
  const { clientId } = registration;
  const present = approvalState === 'draft' ? 'is a draft' : 'is approved for test only';
  return `Client ${clientId} ${present}. Approve it first: partnerctl client approve ${clientId}.`;
}

/** A sentence each. Production approval needs a confirmed data volume (specification §8). */
export function approvalObstacles(
  { registration, approvalState }: ClientState,
  next: ApprovalState,
  { environment, volumeConfirmed }: ApprovalTerms,
): string[] {
  if (!isStepUp(approvalState, next)) return [];
  if (approvalState === 'draft' && next === 'approved')
    return ['It is a draft. Move it to the state test first.'];
  const gaps = registrationGaps(registration);
  if (next !== 'approved') return gaps.filter((gap) => gap === noTechnicalContact);
  if (environment !== 'production' || volumeConfirmed) return gaps;
  return [
    ...gaps,
    'Its data volume is not confirmed. Look at partnerctl designs volume; if it fits, add --volume-confirmed.',
  ];
}

interface ApprovalTerms {
  readonly environment: Environment;
  readonly volumeConfirmed: boolean;
}

export function isStepUp(from: ApprovalState, to: ApprovalState): boolean {
  return approvalStates.indexOf(to) > approvalStates.indexOf(from);
}

/** What `next` lets an approved client do in production that no one has approved. */
export function approvedAdditions(
  { registration, approvalState }: ClientState,
  next: ClientRegistration,
  environment: Environment,
): string[] {
  if (environment !== 'production' || approvalState !== 'approved') return [];
  const scopes = next.scopes.filter((scope) => !registration.scopes.includes(scope));
  const known = registration.redirectUris[environment];
  const uris = next.redirectUris[environment].filter((uri) => !known.includes(uri));
  return [...uris.map((uri) => `the redirect URI ${uri}`), ...scopes.map((scope) => `the scope ${scope}`)];
}

/** A sentence if the confirmed figures say little. */
export function volumeWarnings(volume: Readonly<Record<string, unknown>> | undefined): string[] {
  const empty = ['users', 'events', 'designs'].filter((what) => volume?.[what] === 0);
  if (empty.length === 0) return [];
  return [
    `The confirmed volume is that of a catalog with 0 ${empty.join(', 0 ')}: measure again when the designs are in it.`,
  ];
}

/** Deactivates it when `next` does not allow it to be active. */
export function withApproval<C extends ClientState>(
  client: C,
  next: ApprovalState,
  environment: Environment,
): C {
  const changed = { ...client, approvalState: next };
  return { ...changed, active: changed.active && activationObstacle(changed, environment) === undefined };
}

export function approvalPath(from: ApprovalState, to: ApprovalState): readonly ApprovalState[] {
  const [start, end] = [approvalStates.indexOf(from), approvalStates.indexOf(to)];
  return end <= start ? (end === start ? [] : [to]) : approvalStates.slice(start + 1, end + 1);
}

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
    'redirect_uris.test': test,
    'redirect_uris.production': production,
    technical_contact: contact(registration.technicalContact),
    credential_contacts: registration.credentialContacts.map(contact),
    user_journey: registration.userJourney,
    logout_requirements: registration.logoutRequirements,
    unlinking_requirements: registration.unlinkingRequirements,
    retention_requirements: registration.retentionRequirements,
  };
}
