// Failed logins and those in flight, by network and account, and the networks and browsers that an account knows
// (R30.11). An attempt takes a permit before its password is verified, so that concurrent attempts get no further than
// sequential ones.
import { unavailable } from '@course-exchange/runtime/process/errors';
import type { RedisStore } from '../redis/connect.ts';
import { runScript, type Script, script } from '../redis/script.ts';
import { type Counter, countersOf, firstDelayMs, type LoginOrigin, longestDelayMs } from './throttle.ts';

export interface LoginAttempt extends LoginOrigin {
  readonly id: string;
}

/** `suspect`: admitted after failures from this network. `busy`: too many are in flight. */
type Admission = 'admitted' | 'suspect' | 'busy' | LoginDelay;

export interface LoginDelay {
  /** Milliseconds. */
  readonly delay: number;
  /** For failures of the account from anywhere: a network or browser that it knows does not wait (R30.12). */
  readonly accountAttacked: boolean;
}

/** After it an unsettled attempt (a crash) loses its permit. */
const attemptLifetimeMs = 15_000;

/** KEYS: failures and attempts of each counter. ARGV: now, attempt, then threshold, window and 1 if it delays. */
function runCounters(
  store: RedisStore,
  operation: string,
  text: Script,
  counters: readonly Counter[],
  { id }: LoginAttempt,
  now: number,
): Promise<unknown> {
  const [key = '', ...keys] = counters.flatMap(({ name }) => [failuresKey(name), attemptsKey(name)]);
  const values = counters.flatMap(({ threshold, windowMs, delays }) => [threshold, windowMs, Number(delays)]);
  return runScript(store, operation, text, [key, ...keys], [now, id, ...values]);
}

const failuresKey = (name: string) => `login-failures:${name}`;
const attemptsKey = (name: string) => `login-attempts:${name}`;

// -1: admitted; -2: after failures; 0: busy; else milliseconds to wait.
const admit = script(`
local now = tonumber(ARGV[1])
local wait, busy, failed = 0, false, false
for counter = 1, #KEYS / 2 do
  if ARGV[counter * 3 + 2] == '1' then
    local failures, attempts = KEYS[counter * 2 - 1], KEYS[counter * 2]
    local threshold = tonumber(ARGV[counter * 3])
    redis.call('ZREMRANGEBYSCORE', failures, '-inf', now - tonumber(ARGV[counter * 3 + 1]))
    redis.call('ZREMRANGEBYSCORE', attempts, '-inf', now - ${attemptLifetimeMs})
    local count = redis.call('ZCARD', failures)
    if count > 0 then failed = true end
    if count >= threshold then
      local last = tonumber(redis.call('ZREVRANGE', failures, 0, 0, 'WITHSCORES')[2])
      local delay = math.min(${longestDelayMs}, ${firstDelayMs} * 2 ^ (count - threshold))
      wait = math.max(wait, last + delay - now)
    end
    if redis.call('ZCARD', attempts) >= math.max(1, threshold - count) then busy = true end
  end
end
if wait > 0 then return math.ceil(wait) end
if busy then return 0 end
for counter = 1, #KEYS / 2 do
  if ARGV[counter * 3 + 2] == '1' then
    redis.call('ZADD', KEYS[counter * 2], now, ARGV[2])
    redis.call('PEXPIRE', KEYS[counter * 2], ${attemptLifetimeMs})
  end
end
return failed and -2 or -1`);

/** Each step is atomic; if the second refuses, the first releases its permit. */
export async function admitLogin(store: RedisStore, attempt: LoginAttempt, now: number): Promise<Admission> {
  const answers: number[] = [];
  for (const [step, counters] of countersOf(attempt).entries()) {
    const answer = Number(await runCounters(store, 'admit login', admit, counters, attempt, now));
    answers.push(answer);
    if (answer < 0) continue;
    await releaseLogin(store, attempt, 'not_evaluated');
    const accountAttacked = step === 1 && attempt.knownDevice === undefined;
    return answer === 0 ? 'busy' : { delay: answer, accountAttacked };
  }
  // Failures with this account elsewhere say nothing about this network.
  return answers[0] === -2 ? 'suspect' : 'admitted';
}

/** Failures kept beyond the threshold: the seventh reaches the longest delay. */
const keptBeyond = 10;

const fail = script(`
for counter = 1, #KEYS / 2 do
  local failures = KEYS[counter * 2 - 1]
  redis.call('ZREM', KEYS[counter * 2], ARGV[2])
  redis.call('ZADD', failures, ARGV[1], ARGV[2])
  redis.call('ZREMRANGEBYRANK', failures, 0, -${1 + keptBeyond} - ARGV[counter * 3])
  redis.call('PEXPIRE', failures, ARGV[counter * 3 + 1])
end
return 1`);

/** Counts for the account and its networks. Each step is atomic. */
export async function recordLoginFailure(
  store: RedisStore,
  attempt: LoginAttempt,
  now: number,
): Promise<void> {
  for (const counters of countersOf(attempt))
    await runCounters(store, 'record login failure', fail, counters, attempt, now);
}

// KEYS: ARGV[2] attempts, then what a success clears.
const release = script(`
for key = 1, #KEYS do
  if key <= tonumber(ARGV[2]) then redis.call('ZREM', KEYS[key], ARGV[1]) else redis.call('DEL', KEYS[key]) end
end
return 1`);

/** A success clears only this network's and browser's failures; `not_evaluated` none. Each step is atomic. */
export async function releaseLogin(
  store: RedisStore,
  attempt: LoginAttempt,
  outcome: 'succeeded' | 'not_evaluated',
): Promise<void> {
  for (const counters of countersOf(attempt)) {
    const [key = '', ...keys] = counters.map(({ name }) => attemptsKey(name));
    const emptied = counters.filter(({ own }) => own && outcome === 'succeeded');
    const all = [...keys, ...emptied.map(({ name }) => failuresKey(name))];
    await runScript(store, 'release login', release, [key, ...all], [attempt.id, counters.length]);
  }
}

/** All failures of an account, from whatever network or browser. Passes over the names of all keys. */
export async function clearFailures(store: RedisStore, account: string): Promise<void> {
  try {
    for (const redis of store.masters()) {
      let cursor = '0';
      do {
        const [next, keys] = await redis.scan(cursor, 'MATCH', failuresKey(`*${account}*`), 'COUNT', 1_000);
        await Promise.all(keys.map((key) => redis.unlink(key)));
        cursor = next;
      } while (cursor !== '0');
    }
  } catch (error) {
    throw unavailable('Redis', error);
  }
}

const rememberedMs = 30 * 24 * 60 * 60 * 1000;
const maxOrigins = 100;

const knownKey = (account: string) => `login-known:{${account}}`;

export async function findKnownOrigins(
  store: RedisStore,
  account: string,
  origins: readonly string[],
  now: number,
): Promise<boolean[]> {
  const key = knownKey(account);
  const times = await store.run('find known origins', key, (redis) => redis.zmscore(key, ...origins));
  return times.map((time) => time !== null && Number(time) > now - rememberedMs);
}

const remember = script(`
for origin = 2, #ARGV do redis.call('ZADD', KEYS[1], ARGV[1], ARGV[origin]) end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[1] - ${rememberedMs})
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -${maxOrigins + 1})
redis.call('PEXPIRE', KEYS[1], ${rememberedMs})
return 1`);

/** Atomic. */
export async function rememberOrigins(
  store: RedisStore,
  account: string,
  origins: readonly string[],
  now: number,
): Promise<void> {
  await runScript(store, 'remember origins', remember, [knownKey(account)], [now, ...origins]);
}
