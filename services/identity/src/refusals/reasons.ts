// refusals/ is why a request was refused: the reasons, their records for seven days, and what support reads of them (`explain`). A
// caller sees the error code alone.

// Why identity refuses a request at the token, authorization or user-info endpoint. The caller sees only the code, log
// and metrics the reason, support a record (R34.1). An unlisted reason does not compile.
import type { ErrorCode } from '@course-exchange/rules/error-codes';
import type { TokenRefusal } from '@course-exchange/rules/token-verification';
import { Failure } from '@course-exchange/runtime/process/errors';
import type { ClientId, FamilyId, Sub } from '../ids.ts';
import type { ReasonOf, SecurityEvent } from '../security-events.ts';

export const requestReasons = {
  // token endpoint
  'repeated parameter': 'invalid_request',
  'two client authentication methods': 'invalid_request',
  'two client ids': 'invalid_request',
  'grant_type missing': 'invalid_request',
  grant_type: 'unsupported_grant_type',
  'code or redirect_uri missing': 'invalid_request',
  'malformed verifier': 'invalid_request',
  'PKCE verifier': 'invalid_request',
  'refresh_token missing': 'invalid_request',
  'beyond the grant': 'invalid_scope',
  'no approved scope is left': 'invalid_scope',

  // authorization endpoint, answered directly
  'a parameter came twice': 'invalid_request',
  'client_id missing': 'invalid_client',
  'unknown client': 'invalid_client',
  'inactive client': 'invalid_client',
  'redirect_uri missing': 'invalid_redirect_uri',
  'redirect_uri not registered': 'invalid_redirect_uri',
  'unknown scope': 'invalid_scope',
  'scope missing': 'invalid_scope',
  'scope not approved': 'invalid_scope',
  'response_type missing': 'invalid_request',
  response_type: 'unsupported_response_type',
  PKCE: 'invalid_request',
  'state too long, or not UTF-8': 'invalid_request',
  'nonce too long, or not UTF-8': 'invalid_request',

  // authorization endpoint, answered by redirect
  request: 'request_not_supported',
  request_uri: 'request_uri_not_supported',
  response_mode: 'invalid_request',
  prompt: 'invalid_request',
  max_age: 'invalid_request',
  'id_token_hint.refused': 'invalid_request',
  'prompt=none, and login is to be asked': 'login_required',
  'prompt=none, and account is to be asked': 'consent_required',
  'prompt=none, and consent is to be asked': 'consent_required',
  'another user than the hinted one': 'login_required',
  'scope no longer approved': 'invalid_scope',
  'consent.denied': 'access_denied',
  'form came too late': 'invalid_request',
  'form of another browser': 'invalid_request',
  'decided otherwise before': 'invalid_request',
} as const;

export type RequestReason = keyof typeof requestReasons;

/** Security events that refuse a token request. */
const eventCodes = {
  'client_authentication.failed': 'invalid_client',
  'code.refused': 'invalid_grant',
  'refresh_token.refused': 'invalid_grant',
} as const satisfies Partial<Record<SecurityEvent['event'], ErrorCode>>;

type RefusedEvent = keyof typeof eventCodes;

const codes = { ...requestReasons, ...eventCodes, 'access_token.refused': 'invalid_token' } as const;
type RefusalCode = (typeof codes)[keyof typeof codes];

/** An event's reason needs its name: a code expires, and so does a token. `superseded` is known to a later reader alone. */
export type RefusalReason =
  | RequestReason
  | 'refresh_token.refused superseded'
  | { [Event in RefusedEvent]: `${Event} ${ReasonOf<Event>}` }[RefusedEvent]
  | `access_token.refused ${TokenRefusal}`;

export function codeOf<Reason extends RequestReason>(reason: Reason): (typeof requestReasons)[Reason] {
  return requestReasons[reason];
}

/** The request that caused a refusal: it used the code, replaced the token or revoked the family. */
export interface EarlierRequest {
  /** Empty if unknown: the audit log has an operator's. */
  readonly requestId: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly revoked?: ReasonOf<'grant.revoked'> | undefined;
}

export interface RefusedGrant {
  /** Undefined if nothing is known of the grant any more. */
  readonly sub?: Sub;
  readonly familyId: FamilyId;
}

interface RefusalFacts {
  readonly event?: SecurityEvent<RefusedEvent>;
  readonly grant?: RefusedGrant | undefined;
  readonly earlier?: EarlierRequest | undefined;
}

export class Refusal extends Failure<RefusalCode> {
  readonly reason: RefusalReason;
  readonly facts: RefusalFacts;

  constructor(reason: RefusalReason, facts: RefusalFacts = {}) {
    const [first = ''] = reason.split(' ');
    super(codes[(reason in codes ? reason : first) as keyof typeof codes], reason);
    this.reason = reason;
    this.facts = facts;
  }

  /** For log and metrics: without the event's name. */
  get label(): string {
    return this.reason.replace(/^[a-z_]+\.[a-z]+ /, '');
  }
}

export function refusedAs<Event extends RefusedEvent>(
  event: SecurityEvent<Event> & { readonly reason: ReasonOf<Event> },
  facts: Omit<RefusalFacts, 'event'> = {},
): Refusal {
  return new Refusal(`${event.event} ${event.reason}` as RefusalReason, { ...facts, event });
}

/** For support (R34.1): nothing of R27 (R34.2). */
export interface RefusalRecord {
  /** As sent by the caller: not unique. */
  readonly requestId: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly endpoint: 'token' | 'authorization' | 'userinfo';
  /** A registered client's, or an id of that form. */
  readonly clientId: ClientId | undefined;
  /** By its secret or by an access token that we signed. */
  readonly clientAuthenticated: boolean;
  readonly code: Refusal['code'];
  readonly reason: RefusalReason;
  /** Keyed hash, as in logs. */
  readonly user: string | undefined;
  /** Keyed hash. */
  readonly family: string | undefined;
  readonly earlier: EarlierRequest | undefined;
}
