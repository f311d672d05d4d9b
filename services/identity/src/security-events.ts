// Security events: a log line each, or a sum of equal refusals (R33.1, R33.4). The known client, user and network are
// named, the last two as keyed hashes (R27.3, R33.1); a mere claim is left out.

import type { ClientId, Sub } from './ids.ts';

/** R13.2, R13.5. */
const loginEnds = ['user_disabled', 'signed_out_by_operator', 'user_deleted'] as const;
const grantEnds = ['consent_withdrawn', ...loginEnds] as const;

/** docs/telemetry.md is generated from it. */
export const securityEvents = {
  'login.accepted': [],
  'login.refused': ['incomplete', 'unknown_user', 'wrong_password', 'unverifiable_hash', 'user_disabled'],
  'login.throttled': [],
  'session.begun': [],
  'session.ended': ['sign_out', 'another_account', 'new_login', ...loginEnds],
  'id_token_hint.refused': [],
  'consent.given': [],
  'consent.denied': [],
  'consent.withdrawn': [],
  'client_authentication.failed': ['no_credentials', 'unknown_client', 'inactive_client', 'wrong_secret'],
  'code.refused': [
    'malformed',
    'not_known',
    'foreign',
    'forged',
    'replayed',
    'redirect_uri',
    'verifier',
    ...grantEnds,
  ],
  'refresh_token.refused': [
    'malformed',
    'not_known',
    'expired',
    'revoked',
    'foreign',
    'reused',
    ...grantEnds,
  ],
  'grant.revoked': ['code_replayed', 'superseded', ...grantEnds],
} as const;

/** Operators' changes, logins, consents and revocations have a line each (R33.6). */
export function isSummedUp(event: SecurityEventName): boolean {
  return /\.(?:failed|refused|throttled)$/.test(event);
}

type SecurityEventName = keyof typeof securityEvents;
export type ReasonOf<Name extends SecurityEventName> = (typeof securityEvents)[Name][number];

interface Subject {
  /** An existing client's. */
  readonly client?: ClientId | undefined;
  readonly sub?: Sub | undefined;
  /** As the login throttle counts it; default: the request's. */
  readonly network?: string | undefined;
}

export type SecurityEvent<Name extends SecurityEventName = SecurityEventName> = {
  readonly [Event in Name]: Subject & { readonly event: Event } & ([ReasonOf<Event>] extends [never]
      ? { readonly reason?: undefined }
      : { readonly reason: ReasonOf<Event> });
}[Name];
