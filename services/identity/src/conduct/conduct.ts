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
  /** Of the last one; empty if unknown. */
  readonly requestId: string;
}

interface Duty {
  /** Of the specification. */
  readonly section: string;
  readonly about: string;
  /** `by` breaks the duty; `seen` shows that there was something to keep. Absent: not visible from here. */
  readonly broken?: { readonly by: Act; readonly seen: Act };
}

const duties = {
  pkce: {
    section: 'S5.flow',
    about: 'A PKCE challenge in each request',
    broken: { by: 'pkce_absent', seen: 'code_redeemed' },
  },
  s256: {
    section: 'S5.enforce',
    about: 'S256 as the only challenge method',
    broken: { by: 'pkce_plain', seen: 'pkce_s256' },
  },
  state: {
    section: 'S5.flow',
    about: 'A state in each request',
    broken: { by: 'state_absent', seen: 'code_redeemed' },
  },
  nonce: {
    section: 'S5.flow',
    about: 'A nonce in each request',
    broken: { by: 'nonce_absent', seen: 'code_redeemed' },
  },
  code_once: {
    section: 'S5.flow',
    about: 'Each code exchanged once',
    broken: { by: 'code_replayed', seen: 'code_redeemed' },
  },
  token_replaced: {
    section: 'S5.lifetime',
    about: 'No spent refresh token sent again',
    broken: { by: 'token_reused', seen: 'token_refreshed' },
  },
  refreshes_serialized: {
    section: 'S5.lifetime',
    about: 'One refresh at a time for each session',
    broken: { by: 'refresh_concurrent', seen: 'token_refreshed' },
  },
  token_discarded: {
    section: 'S3.refresh',
    about: 'Nothing sent again after invalid_grant',
    broken: { by: 'token_repeated', seen: 'refresh_refused' },
  },
  scope_within_grant: {
    section: 'S5.scope',
    about: 'No scope beyond the grant',
    broken: { by: 'scope_exceeded', seen: 'token_refreshed' },
  },
  callback: { section: 'S5.flow', about: 'State checked on callback, used once' },
  id_token: { section: 'S5.flow', about: 'ID token validated' },
  account_key: { section: 'S5.flow', about: 'Accounts linked by iss and sub' },
  token_storage: { section: 'S5.lifetime', about: 'Refresh tokens encrypted at rest' },
} as const satisfies Readonly<Record<string, Duty>>;

type Verdict = 'kept' | 'broken' | 'not_seen' | 'not_visible';

export interface JudgedDuty extends Pick<Duty, 'section' | 'about'> {
  readonly duty: string;
  readonly verdict: Verdict;
  /** Undefined if there are none. */
  readonly breaches: Omit<ActCount, 'clientId' | 'day' | 'act'> | undefined;
}

export type Total = Pick<ActCount, 'act' | 'count' | 'lastAt' | 'requestId'>;

/** `totals`: each act once. One breach breaks a duty. */
export function judgeConduct(totals: readonly Total[]): readonly JudgedDuty[] {
  const counted = new Map(totals.map((total) => [total.act, total]));
  return Object.entries<Duty>(duties).map(([duty, { section, about, broken }]) => {
    const breaches = broken && counted.get(broken.by);
    const unbroken = broken && counted.has(broken.seen) ? 'kept' : 'not_seen';
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
  if (reason === 'beyond the grant') return 'scope_exceeded';
  if (reason === 'code.refused replayed') return 'code_replayed';
  if (reason !== 'refresh_token.refused reused') return undefined;
  const soonAfter = earlier !== undefined && Math.abs(now - earlier.at) <= concurrentMs;
  return wasCurrent || soonAfter ? 'refresh_concurrent' : 'token_reused';
}
