// Keys `code:{family id}` and `rt:{family id}`: codes and refresh families (`grant-record.ts`), each change one script.
// The braces are a Cluster hash tag: both keys share a slot, so that one script changes both.
import { Overloaded } from '@course-exchange/runtime/process/errors';
import type { FamilyId } from '../ids.ts';
import type { RedisStore } from '../redis/connect.ts';
import { runReplicated, runScript, script } from '../redis/script.ts';
import type { PresentedToken } from '../secrets.ts';
import {
  type AuthorizationCode,
  codeFields,
  type FoundFields,
  familyFields,
  type GrantRecord,
  type Read,
  type RefreshFamily,
  toCode,
  toFamily,
} from './grant-record.ts';

/** Seconds (specification §3). */
const codeLifetime = 300;
/** Seconds that a used code is remembered for: 10 minutes from its issue in all (R10.5). */
const usedCodeMemory = 300;
/** Seconds from each rotation: 30 days (specification §3). */
const refreshLifetime = 30 * 24 * 60 * 60;
/** Unexchanged codes of one user; the next one ends the oldest. */
const mostCodesOfUser = 1_000;

export function grantKeys(familyId: FamilyId): [code: string, family: string] {
  return [`code:{${familyId}}`, `rt:{${familyId}}`];
}

// Each score exceeds those before it, so that the newest code is never evicted.
const list = script(`
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[2])
local newest = redis.call('ZREVRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2] or 0
redis.call('ZADD', KEYS[1], math.max(ARGV[2] + ${codeLifetime * 1_000}, newest + 1), ARGV[1])
redis.call('EXPIRE', KEYS[1], ${codeLifetime})
local over = redis.call('ZCARD', KEYS[1]) - ${mostCodesOfUser}
if over <= 0 then return {} end
local oldest = redis.call('ZRANGE', KEYS[1], 0, over - 1)
redis.call('ZREM', KEYS[1], unpack(oldest))
return oldest`);

const dropUnused = script(`
if redis.call('HEXISTS', KEYS[1], 'used') == 1 then return 0 end
return redis.call('DEL', KEYS[1])`);

/**
 * Counts a code before it is created and ends the user's oldest unexchanged ones. Each step is atomic; a crash between
 * them leaves a code until it expires. `now`: milliseconds since the epoch.
 */
export async function countCode(
  store: RedisStore,
  { sub, familyId }: Pick<GrantRecord, 'sub' | 'familyId'>,
  now: number,
): Promise<void> {
  const key = `code:of:{${sub}}`;
  const oldest = (await runScript(store, 'count code', list, [key], [familyId, now])) as FamilyId[];
  for (const each of oldest) {
    const [code] = grantKeys(each);
    await runScript(store, 'drop code', dropUnused, [code], []);
  }
}

// A family never gets a second code. Its own key is checked too: it outlives the used code's.
const create = script(`
if redis.call('EXISTS', KEYS[1], KEYS[2]) > 0 then return 0 end
redis.call('HSET', KEYS[1], unpack(ARGV, 2))
redis.call('EXPIRE', KEYS[1], ARGV[1])
return 1`);

/** Keeps `code` unless its family has or had one (R6.7). True when this call created it. Atomic. */
export async function createAuthorizationCode(store: RedisStore, code: AuthorizationCode): Promise<boolean> {
  const [keys, values] = [grantKeys(code.familyId), [codeLifetime, ...codeFields(code)]];
  return (await runReplicated(store, 'create authorization code', create, keys, values)) === 1;
}

const read = script(`return {redis.call('PTTL', KEYS[1]), redis.call('HGETALL', KEYS[1])}`);

/** `now` is asked after the answer: `expiresAt` is late by the duration of the read at most. */
async function find(
  store: RedisStore,
  operation: string,
  key: string,
  familyId: FamilyId,
  now: () => number,
): Promise<FoundFields> {
  const answer = await runScript(store, operation, read, [key], []);
  const [ttlMs, words] = answer as [number, string[]];
  const fields: Record<string, string> = {};
  for (let i = 0; i < words.length; i += 2) fields[words[i] ?? ''] = words[i + 1] ?? '';
  return { familyId, fields, expiresAt: now() + ttlMs };
}

export async function readAuthorizationCode(store: RedisStore, familyId: FamilyId, now: () => number) {
  const [key] = grantKeys(familyId);
  return toCode(await find(store, 'read authorization code', key, familyId, now));
}

export async function readRefreshFamily(store: RedisStore, familyId: FamilyId, now: () => number) {
  const [, key] = grantKeys(familyId);
  return toFamily(await find(store, 'read refresh family', key, familyId, now));
}

export type NextToken = Pick<RefreshFamily, 'hash' | 'issuedAt'>;

// A command that reaches Redis after the caller's deadline consumes nothing. The deadline is a time that the record
// must have left, so that clocks need not agree (decision 0025).
const consumeInTime = `
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then return -1 end`;

/** ARGV[2] of `consumeInTime`, in milliseconds. */
function leastTtl({ expiresAt }: Read<GrantRecord>, latest: number): number {
  return Math.ceil(expiresAt - latest);
}

function inTime(answer: unknown): unknown {
  if (answer === -1) throw new Overloaded('Redis executed the script after its deadline');
  return answer;
}

// A code that was used before revokes its family (R10). 2 when there was one.
const revokeReplayed = `
if redis.call('HGET', KEYS[1], 'hash') == ARGV[1] and redis.call('HEXISTS', KEYS[1], 'used') == 1 then
  return 2 * redis.call('DEL', KEYS[2])
end`;

// The code is used and the family begun in one step; of N concurrent exchanges the others find the mark and are replays
// (R9, R10).
const exchange = script(`${revokeReplayed}
if redis.call('HGET', KEYS[1], 'hash') ~= ARGV[1] then return 0 end${consumeInTime}
redis.call('HSET', KEYS[1], 'used', 1)
redis.call('EXPIRE', KEYS[1], redis.call('TTL', KEYS[1]) + ARGV[3])
redis.call('HSET', KEYS[2], unpack(ARGV, 5))
redis.call('EXPIRE', KEYS[2], ARGV[4])
return 1`);

/**
 * Uses `code` and begins its family with `next`. If the code was used meanwhile this is a replay: the family is
 * `revoked` (R10), or `refused` when it was revoked before. After `latest` (milliseconds since the epoch) it throws
 * `temporarily_unavailable`, and nothing has changed. Atomic.
 */
export async function exchangeCode(
  store: RedisStore,
  code: Read<AuthorizationCode>,
  next: NextToken,
  latest: number,
): Promise<'exchanged' | 'revoked' | 'refused'> {
  const fields = familyFields({ ...code, ...next });
  const values = [code.hash, leastTtl(code, latest), usedCodeMemory, refreshLifetime, ...fields];
  const keys = grantKeys(code.familyId);
  const answer = inTime(await runReplicated(store, 'exchange authorization code', exchange, keys, values));
  if (answer === 1) return 'exchanged';
  return answer === 2 ? 'revoked' : 'refused';
}

const replay = script(`${revokeReplayed}
return 0`);

/** Revokes the family of a used code; false when there was none any more. Atomic. */
export async function revokeOnReplay(
  store: RedisStore,
  { familyId, hash }: PresentedToken,
): Promise<boolean> {
  return (await runReplicated(store, 'revoke on replay', replay, grantKeys(familyId), [hash])) === 2;
}

// Compare-and-set: of N concurrent rotations the first changes the hash, the others no longer match.
const rotate = script(`
if redis.call('HGET', KEYS[1], 'hash') ~= ARGV[1] then return 0 end${consumeInTime}
redis.call('HSET', KEYS[1], 'hash', ARGV[3], 'issued_at', ARGV[4])
redis.call('EXPIRE', KEYS[1], ARGV[5])
return 1`);

/**
 * Replaces the current token of `family`, as it was read, by `next`, for another 30 days. False when it is not current
 * any more; after `latest` (milliseconds since the epoch) it throws `temporarily_unavailable`: nothing has changed.
 * Atomic.
 */
export async function rotateRefreshToken(
  store: RedisStore,
  family: Read<RefreshFamily>,
  next: NextToken,
  latest: number,
): Promise<boolean> {
  const [, key] = grantKeys(family.familyId);
  const values = [family.hash, leastTtl(family, latest), next.hash, next.issuedAt, refreshLifetime];
  return inTime(await runReplicated(store, 'rotate refresh token', rotate, [key], values)) === 1;
}

// The mark left behind outlives the 10 s in which a browser may repeat its decision, so that a repeat creates no code
// (R6.7).
const remove = script(`
if redis.call('HGET', KEYS[1], 'hash') ~= ARGV[1] and redis.call('HGET', KEYS[2], 'hash') ~= ARGV[1] then
  return 0
end
redis.call('DEL', KEYS[1], KEYS[2])
redis.call('HSET', KEYS[1], 'used', 1)
redis.call('EXPIRE', KEYS[1], 60)
return 1`);

/** Deletes code and family if `hash` is the current secret of either (R13). Atomic. */
export async function deleteGrant(store: RedisStore, { familyId, hash }: PresentedToken): Promise<void> {
  await runReplicated(store, 'delete grant', remove, grantKeys(familyId), [hash]);
}
