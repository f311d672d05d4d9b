// A grant is what a code or a refresh token stands for: client, user, consent, scopes.
//
//   authorization_code  code valid → consumed; a refresh family begins
//   refresh_token       token active → consumed; its successor takes its place
//
// Both are read first, since the client is authenticated before they are judged (R8) and one statement answers for client
// and grant together. Then tokens are prepared: the grant is checked and they are signed. One atomic step consumes it
// last, so no crash consumes a grant whose tokens were never made (R9).

import { tokenLifetime } from '@course-exchange/rules/access-token';
import { timeBudget } from '@course-exchange/rules/time-budget';
import type { Reads } from '@course-exchange/runtime/postgres/pool';
import { Overloaded } from '@course-exchange/runtime/process/errors';
import { currentCall } from '@course-exchange/runtime/process/request-context';
import { formatScope, intersection, type Scope } from '../clients/scope.ts';
import type { ClientId, RandomBytes } from '../ids.ts';
import type { RedisStore } from '../redis/connect.ts';
import { type EarlierRequest, type Refusal, type RefusedGrant, tokenRefusal } from '../refusals/reasons.ts';
import type { RequestLog } from '../request-log.ts';
import { formatToken, hashSecret, newSecret, type PresentedToken } from '../secrets.ts';
import type { ReasonOf } from '../security-events.ts';
import { isLoginValid, whyLoginEnded } from '../users/user.ts';
import type { PresentedCredentials } from './client-authentication.ts';
import type { FamilyBound } from './family-bound.ts';
import type { GrantRecord, NextToken, Revocation } from './grant-record.ts';
import type { ClientStatus, GrantStatus, LoadedStatus } from './grant-status-table.ts';
import { deleteGrant } from './grant-store.ts';
import { type IdTokenRequest, issueAccessToken, issueIdToken, type TokenIssuer } from './jwt.ts';

export interface TokenDeps extends Pick<RequestLog, 'observe'> {
  readonly database: Reads;
  readonly redis: RedisStore;
  readonly tokens: TokenIssuer;
  readonly now: () => number;
  readonly randomBytes: RandomBytes;
  /** `secretHash`: SHA-256 in hex. Returns at once. */
  readonly onSecretUsed: (clientId: ClientId, secretHash: string) => void;
  readonly conduct: GrantObserver;
  readonly families: Omit<FamilyBound, 'flush'>;
}

/** After one form-decoding; empty is absent. */
export interface TokenRequest extends PresentedCredentials {
  readonly grantType: string;
  readonly code: string;
  readonly redirectUri: string;
  readonly codeVerifier: string;
  readonly refreshToken: string;
  readonly scope: string;
  readonly repeatedParameters: readonly string[];
}

/** Specification §4. */
export interface TokenResponse {
  readonly accessToken: string;
  readonly refreshToken: string;
  /** Seconds. */
  readonly expiresIn: number;
  readonly scope: string;
  readonly idToken?: string;
}

/** As read, before the request changes it. */
export interface LoadedGrant<Loaded = Omit<GrantRecord, 'hash'>> {
  readonly presented: PresentedToken | undefined;
  readonly record: Loaded | undefined;
}

/** Is told what became of a grant that an authenticated client presented. Its methods return at once. */
interface GrantObserver {
  readonly onGranted: (clientId: ClientId, grant: LoadedGrant) => void;
  readonly onRefused: (clientId: ClientId, grant: LoadedGrant, error: unknown) => void;
}

export interface CurrentStatus extends LoadedStatus {
  readonly client: ClientStatus;
}

/** Default: what may be true of a code and of a refresh token. */
export type RefuseGrant<Reason = ReasonOf<'code.refused'> & ReasonOf<'refresh_token.refused'>> = (
  reason: Reason,
  client: ClientId,
  grant?: RefusedGrant,
  earlier?: EarlierRequest,
) => Refusal;

/** The grant, if it is this client's. Changes nothing (R11.1). */
export function requireOwn<Loaded extends Omit<GrantRecord, 'hash'>>(
  refuse: RefuseGrant,
  { presented, record }: LoadedGrant<Loaded>,
  clientId: ClientId,
): { readonly presented: PresentedToken; readonly record: Loaded } {
  if (presented === undefined) throw refuse('malformed', clientId);
  if (record === undefined) throw refuse('not_known', clientId, { familyId: presented.familyId });
  if (record.clientId !== clientId) throw refuse('foreign', clientId, record);
  return { presented, record };
}

/** Milliseconds since the epoch. The response to a later one might not arrive, and the partner would lose its token. */
export function latestConsumption({ now, redis }: TokenDeps): number {
  const answerable = currentCall().deadline - redis.replicas.confirmationMs;
  return Math.min(answerable, now() + redis.commandTimeoutMs) - timeBudget.wayBack;
}

/** Throws `temporarily_unavailable` when no grant may be consumed any more. */
export function requireTimeToConsume(deps: TokenDeps): void {
  if (deps.now() > latestConsumption(deps)) throw new Overloaded('deadline');
}

interface Wanted {
  readonly refuse: RefuseGrant;
  /** The access token's, before they are limited to those approved. */
  readonly scopes: readonly Scope[];
  /** An ID token is made only if `openid` is granted. */
  readonly idToken?: IdTokenRequest;
}

/**
 * The response, for when `next` has taken the place of the grant's secret. Changes nothing, but deletes a dead grant. Throws
 * `temporarily_unavailable` when it is too late to consume the grant.
 */
export async function prepareTokens(
  deps: TokenDeps,
  record: GrantRecord,
  status: CurrentStatus,
  { refuse, scopes: requested, idToken: idTokenRequest }: Wanted,
): Promise<{ readonly next: NextToken; readonly response: TokenResponse }> {
  const { familyId, sub, clientId } = record;
  const user = await requireValidGrant(deps, record, status.grant, refuse);
  const scopes = intersection(requested, status.client.scopes);
  if (scopes.length === 0) throw tokenRefusal('no_approved_scope_is_left', { grant: record });
  const now = deps.now();
  const id = deps.randomBytes(16).toString('base64url');
  const withIdToken = idTokenRequest && scopes.includes('openid');
  const [accessToken, idToken] = await Promise.all([
    issueAccessToken(deps.tokens, { sub, clientId, scopes }, now, id),
    withIdToken ? issueIdToken(deps.tokens, user, idTokenRequest, now) : undefined,
  ]);
  const secret = newSecret(deps.randomBytes);
  requireTimeToConsume(deps);
  const response = {
    accessToken,
    refreshToken: formatToken(familyId, secret),
    expiresIn: tokenLifetime,
    scope: formatScope(scopes),
    ...(idToken === undefined ? {} : { idToken }),
  };
  return { next: { hash: hashSecret(secret), issuedAt: now, requestId: currentCall().requestId }, response };
}

/** Ends a grant whose login or consent is no longer valid (R13.2, R13.3, R13.5). */
async function requireValidGrant(
  { redis, families, now, observe }: TokenDeps,
  record: GrantRecord,
  status: GrantStatus | undefined,
  refuse: RefuseGrant,
): Promise<GrantStatus> {
  const { sub, clientId: client } = record;
  const withdrawn = status?.withdrawnAt != null;
  const valid = status?.sub === sub && !withdrawn && isLoginValid(status, record.loggedInAt);
  if (valid) return status;
  const reason = withdrawn ? 'consent_withdrawn' : whyLoginEnded(status);
  const at = status?.withdrawnAt ?? status?.disabledAt ?? status?.signedOutAt;
  const earlier: Revocation | undefined = at == null ? undefined : { requestId: '', at, revoked: reason };
  families.revoke(record);
  const { requestId } = currentCall();
  await deleteGrant(redis, record, earlier ?? { requestId, at: now(), revoked: reason });
  observe({ event: 'grant.revoked', client, sub, reason });
  throw refuse(reason, client, record, earlier);
}
