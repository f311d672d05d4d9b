// Keys `login-failures:{network}…` and `login-attempts:{network}…`: failed logins of the last 15 minutes and
// logins that are being looked at, by network and by account within it (R30). An attempt takes its place
// before its password is looked at, so that many at once get no further than the same many in a row. The
// braces put a network and its accounts into one slot of a Redis Cluster.
import type { RedisStore } from '@course-exchange/runtime/redis';
import {
  accountThreshold,
  failureWindowMs,
  firstDelayMs,
  longestDelayMs,
  networkThreshold,
} from '../../domain/login-throttle.ts';
import { runScript, script } from './script.ts';

/** A login that takes its place: who, from where, and a random name for the attempt itself. */
export interface LoginAttempt {
  readonly id: string;
  readonly account: string;
  readonly network: string;
}

/**
 * `admitted`: look at the password, then call one of the settling functions. `delayed`: look at nothing for
 * `waitMs`. `busy`: as many as may fail without a delay are being looked at; ask again shortly.
 */
export type Admission =
  | { readonly kind: 'admitted' }
  | { readonly kind: 'delayed'; readonly waitMs: number }
  | { readonly kind: 'busy' };

/** Milliseconds after which an attempt that was never settled (a crash) gives its place back. */
const attemptLifetimeMs = 15_000;

function keysOf({ network, account }: LoginAttempt): [string, ...string[]] {
  const [ofNetwork, ofAccount] = [`{${network}}`, `{${network}}:${account}`];
  return [
    `login-failures:${ofAccount}`,
    `login-attempts:${ofAccount}`,
    `login-failures:${ofNetwork}`,
    `login-attempts:${ofNetwork}`,
  ];
}

// ARGV: now, attempt, window, attempt lifetime, first delay, longest delay, thresholds of account and network.
// Returns -1 when admitted, 0 when busy, else the milliseconds to wait.
const admit = script(`
local now = tonumber(ARGV[1])
local wait, busy = 0, false
for scope = 0, 1 do
  local failures, attempts = KEYS[scope * 2 + 1], KEYS[scope * 2 + 2]
  local threshold = tonumber(ARGV[7 + scope])
  redis.call('ZREMRANGEBYSCORE', failures, '-inf', now - tonumber(ARGV[3]))
  redis.call('ZREMRANGEBYSCORE', attempts, '-inf', now - tonumber(ARGV[4]))
  local count = redis.call('ZCARD', failures)
  if count >= threshold then
    local last = tonumber(redis.call('ZREVRANGE', failures, 0, 0, 'WITHSCORES')[2])
    local delay = math.min(tonumber(ARGV[6]), tonumber(ARGV[5]) * 2 ^ (count - threshold))
    wait = math.max(wait, last + delay - now)
  end
  if redis.call('ZCARD', attempts) >= math.max(1, threshold - count) then busy = true end
end
if wait > 0 then return math.ceil(wait) end
if busy then return 0 end
for scope = 0, 1 do
  redis.call('ZADD', KEYS[scope * 2 + 2], now, ARGV[2])
  redis.call('PEXPIRE', KEYS[scope * 2 + 2], ARGV[4])
end
return -1`);

/** Takes a place for `attempt`, or says why not. Atomic. `now`: milliseconds since the epoch. */
export async function admitLogin(store: RedisStore, attempt: LoginAttempt, now: number): Promise<Admission> {
  const thresholds = [accountThreshold, networkThreshold];
  const times = [failureWindowMs, attemptLifetimeMs, firstDelayMs, longestDelayMs];
  const keys = keysOf(attempt);
  const answer = await store.run('admit login', keys[0], (redis) =>
    runScript(redis, admit, keys, [now, attempt.id, ...times, ...thresholds]),
  );
  if (answer === -1) return { kind: 'admitted' };
  return answer === 0 ? { kind: 'busy' } : { kind: 'delayed', waitMs: Number(answer) };
}

const fail = script(`
for scope = 0, 1 do
  redis.call('ZREM', KEYS[scope * 2 + 2], ARGV[2])
  redis.call('ZADD', KEYS[scope * 2 + 1], ARGV[1], ARGV[2])
  redis.call('PEXPIRE', KEYS[scope * 2 + 1], ARGV[3])
end
return 1`);

/** Settles an admitted attempt as failed: it counts for the account and for the network. Atomic. */
export async function recordLoginFailure(
  store: RedisStore,
  attempt: LoginAttempt,
  now: number,
): Promise<void> {
  const keys = keysOf(attempt);
  await store.run('record login failure', keys[0], (redis) =>
    runScript(redis, fail, keys, [now, attempt.id, failureWindowMs]),
  );
}

const release = script(`
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('ZREM', KEYS[4], ARGV[1])
if ARGV[2] == 'succeeded' then redis.call('DEL', KEYS[1]) end
return 1`);

/**
 * Settles an admitted attempt that did not fail. A success clears the account's failures from this network,
 * never the network's own; an attempt whose password was not looked at (`unseen`) clears nothing. Atomic.
 */
export async function releaseLogin(
  store: RedisStore,
  attempt: LoginAttempt,
  outcome: 'succeeded' | 'unseen',
): Promise<void> {
  const keys = keysOf(attempt);
  await store.run('release login', keys[0], (redis) =>
    runScript(redis, release, keys, [attempt.id, outcome]),
  );
}
