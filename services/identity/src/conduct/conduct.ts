// conduct/ counts what clients do against their duties, for operators to read. It sees outcomes and decides nothing about a request.

// How a client keeps its duties (specification §5), counted from requests in which it authenticated. Authorization
// requests count when the client redeems their code. Duties that identity cannot see are listed, too.
import type { ClientId } from '../ids.ts';
import type { Refusal } from '../refusals/reasons.ts';
import type { AuthorizationCode } from '../token/grant-record.ts';

export type Act =
  | 'authorization_request'
  | 'code_redeemed'
  | 'pkce_s256'
  | 'pkce_plain'
  | 'pkce_absent'
  | 'state_absent'
  | 'nonce_absent'
  | 'code_replayed'
  | 'token_refreshed'
  | 'refresh_refused'
  | 'token_reused'
  | 'refresh_concurrent'
  | 'token_repeated'
  | 'scope_exceeded';

export interface ActCount {
  readonly clientId: ClientId;
  /** Of UTC: `2026-11-20`. */
  readonly day: string;
  readonly act: Act;
  readonly count: number;
  /** Milliseconds since the epoch. */
  readonly lastAt: number;
  /** The last one's; empty if unknown. */
  readonly requestId: string;
}

/**
 * Its section of the specification, what it asks for, the act that breaks it, and the act that shows that there was
 * something to keep. Without acts: not visible from here.
 */
type Duty = readonly [section: string, about: string, broken?: Act, seen?: Act];

const duties: Readonly<Record<string, Duty>> = {
  pkce: ['S5.flow', 'A PKCE challenge in each request', 'pkce_absent', 'code_redeemed'],
  s256: ['S5.enforce', 'S256 as the only challenge method', 'pkce_plain', 'pkce_s256'],
  state: ['S5.flow', 'A state in each request', 'state_absent', 'code_redeemed'],
  nonce: ['S5.flow', 'A nonce in each request', 'nonce_absent', 'code_redeemed'],
  code_once: ['S5.flow', 'Each code exchanged once', 'code_replayed', 'code_redeemed'],
  token_replaced: ['S5.lifetime', 'No spent refresh token sent again', 'token_reused', 'token_refreshed'],
  refreshes_serialized: [
    'S5.lifetime',
    'One refresh at a time for each session',
    'refresh_concurrent',
    'token_refreshed',
  ],
  token_discarded: [
    'S3.refresh',
    'Nothing sent again after invalid_grant',
    'token_repeated',
    'refresh_refused',
  ],
  scope_within_grant: ['S5.scope', 'No scope beyond the grant', 'scope_exceeded', 'token_refreshed'],
  callback: ['S5.flow', 'State checked on callback, used once'],
  id_token: ['S5.flow', 'ID token validated'],
  account_key: ['S5.flow', 'Accounts linked by iss and sub'],
  token_storage: ['S5.lifetime', 'Refresh tokens encrypted at rest'],
};

export interface JudgedDuty {
  readonly duty: string;
  readonly section: string;
  readonly about: string;
  readonly verdict: 'kept' | 'broken' | 'not_seen' | 'not_visible';
  /** Undefined if there are none. */
  readonly breaches: Omit<ActCount, 'clientId' | 'day' | 'act'> | undefined;
}

export type Total = Pick<ActCount, 'act' | 'count' | 'lastAt' | 'requestId'>;

/** `totals`: each act once. One breach breaks a duty. */
export function judgeConduct(totals: readonly Total[]): readonly JudgedDuty[] {
  const counted = new Map(totals.map((total) => [total.act, total]));
  return Object.entries(duties).map(([duty, [section, about, broken, seen]]) => {
    const breaches = broken && counted.get(broken);
    const unbroken = seen && counted.has(seen) ? 'kept' : 'not_seen';
    const verdict = broken === undefined ? 'not_visible' : breaches ? 'broken' : unbroken;
    return { duty, section, about, verdict, breaches };
  });
}

/** What the granted request shows; a code also of the request that asked for it. */
export function actsOfGrant(record: Partial<AuthorizationCode>): readonly Act[] {
  const { redirectUri, pkce, nonce, stateMissing } = record;
  if (redirectUri === undefined) return ['token_refreshed'];
  const plainOrS256 = pkce?.method === 'S256' ? 'pkce_s256' : 'pkce_plain';
  const acts: Act[] = ['code_redeemed', pkce === undefined ? 'pkce_absent' : plainOrS256];
  if (stateMissing) acts.push('state_absent');
  if (nonce === '') acts.push('nonce_absent');
  return acts;
}

/**
 * Milliseconds, about a round trip to a partner: a spent token that comes so soon after its replacement was sent
 * before the client had that.
 */
const concurrentMs = 250;

/**
 * `wasCurrent`: its refresh token was, when the request was read. A refresh that lost a race is concurrent, not also a
 * reuse.
 */
export function breachOf(
  { reason, facts: { earlier } }: Refusal,
  wasCurrent: boolean,
  now: number,
): Act | undefined {
  if (reason === 'beyond_the_grant') return 'scope_exceeded';
  if (reason === 'code_replayed') return 'code_replayed';
  if (reason !== 'refresh_token_reused') return undefined;
  const soonAfter = earlier !== undefined && Math.abs(now - earlier.at) <= concurrentMs;
  return wasCurrent || soonAfter ? 'refresh_concurrent' : 'token_reused';
}
