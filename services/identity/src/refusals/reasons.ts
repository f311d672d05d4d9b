// refusals/ is why a request was refused: the reasons, their records for seven days, and what support reads of them (`explain`). A
// caller sees the error code alone.

// Why identity refuses a request, by endpoint, and the code that its caller gets. Log, metrics, traces and records hold the
// reason (R34.1). An unlisted one does not compile.
import type { TokenRefusal } from '@course-exchange/rules/token-verification';
import { Failure } from '@course-exchange/runtime/process/errors';
import type { ClientId, FamilyId, Sub } from '../ids.ts';
import type { ReasonOf, SecurityEvent } from '../security-events.ts';

export const refusalCodes = {
  token: {
    repeated_parameter: 'invalid_request',
    two_client_authentication_methods: 'invalid_request',
    two_client_ids: 'invalid_request',
    grant_type_missing: 'invalid_request',
    grant_type: 'unsupported_grant_type',
    code_or_redirect_uri_missing: 'invalid_request',
    malformed_verifier: 'invalid_request',
    pkce_verifier: 'invalid_request',
    refresh_token_missing: 'invalid_request',
    beyond_the_grant: 'invalid_scope',
    no_approved_scope_is_left: 'invalid_scope',
  },
  authorization: {
    // answered directly
    repeated_parameter: 'invalid_request',
    client_id_missing: 'invalid_client',
    unknown_client: 'invalid_client',
    inactive_client: 'invalid_client',
    redirect_uri_missing: 'invalid_redirect_uri',
    redirect_uri_not_registered: 'invalid_redirect_uri',
    unknown_scope: 'invalid_scope',
    scope_missing: 'invalid_scope',
    scope_not_approved: 'invalid_scope',
    response_type_missing: 'invalid_request',
    response_type: 'unsupported_response_type',
    pkce_challenge: 'invalid_request',
    state_too_long_or_not_utf8: 'invalid_request',
    nonce_too_long_or_not_utf8: 'invalid_request',

    // answered by redirect
    request: 'request_not_supported',
    request_uri: 'request_uri_not_supported',
    response_mode: 'invalid_request',
    prompt: 'invalid_request',
    max_age: 'invalid_request',
    id_token_hint_refused: 'invalid_request',
    prompt_none_login: 'login_required',
    prompt_none_account: 'consent_required',
    prompt_none_consent: 'consent_required',
    another_user_than_the_hinted_one: 'login_required',
    scope_no_longer_approved: 'invalid_scope',
    consent_denied: 'access_denied',
    form_came_too_late: 'invalid_request',
    form_of_another_browser: 'invalid_request',
    decided_otherwise_before: 'invalid_request',
  },
} as const;

/** Also those of security events, and of access tokens. */
interface Reasons {
  readonly token:
    | keyof Codes['token']
    | ReasonOf<'client_authentication.failed'>
    | `code_${ReasonOf<'code.refused'>}`
    /** `superseded` is known to a later reader alone. */
    | `refresh_token_${ReasonOf<'refresh_token.refused'> | 'superseded'}`;
  readonly authorization: keyof Codes['authorization'];
  readonly userinfo: TokenRefusal;
}

type Codes = typeof refusalCodes;
type Endpoint = keyof Reasons;
export type RefusalReason = Reasons[Endpoint];
/** Reasons of two endpoints may be equal. */
export type RefusalName = { [At in Endpoint]: `${At}.${Reasons[At]}` }[Endpoint];

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
  /** Its line in the log stands for the refusal's. */
  readonly event?: SecurityEvent;
  readonly grant?: RefusedGrant | undefined;
  readonly earlier?: EarlierRequest | undefined;
}

type RefusalCode =
  | Codes['token'][keyof Codes['token']]
  | Codes['authorization'][keyof Codes['authorization']]
  | 'invalid_client'
  | 'invalid_grant'
  | 'invalid_token';

export class Refusal extends Failure<RefusalCode> {
  readonly endpoint: Endpoint;
  readonly reason: RefusalReason;
  readonly facts: RefusalFacts;

  constructor(endpoint: Endpoint, code: RefusalCode, reason: RefusalReason, facts: RefusalFacts = {}) {
    super(code, reason);
    this.endpoint = endpoint;
    this.reason = reason;
    this.facts = facts;
  }
}

export function tokenRefusal(reason: keyof Codes['token'], facts?: RefusalFacts): Refusal {
  return new Refusal('token', refusalCodes.token[reason], reason, facts);
}

export function authorizationRefusal(reason: Reasons['authorization']): Refusal {
  return new Refusal('authorization', refusalCodes.authorization[reason], reason);
}

/** For support (R34.1): nothing of R27 (R34.2). */
export interface RefusalRecord extends Pick<Refusal, 'endpoint' | 'code' | 'reason'> {
  /** As sent by the caller: not unique. */
  readonly requestId: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** A registered client's, or an id of that form. */
  readonly clientId: ClientId | undefined;
  /** By its secret or by an access token that we signed. */
  readonly clientAuthenticated: boolean;
  /** Keyed hash, as in logs. */
  readonly user: string | undefined;
  /** Keyed hash. */
  readonly family: string | undefined;
  readonly earlier: EarlierRequest | undefined;
}
