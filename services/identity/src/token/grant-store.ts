// Keys `code:{family id}` and `rt:{family id}`: codes and refresh families (`grant-record.ts`), each change one
// script. The braces put both keys into one Cluster slot.
import { seconds } from '@course-exchange/rules/brand';
import { Overloaded } from '@course-exchange/runtime/process/errors';
import type { FamilyId } from '../ids.ts';
import type { RedisStore } from '../redis/connect.ts';
import { runReplicated, runScript, script } from '../redis/script.ts';
import type { EarlierRequest } from '../refusals/reasons.ts';
import type { PresentedToken } from '../secrets.ts';
import {
  type AuthorizationCode,
  codeFields,
  endedFamilyMemory,
  type FoundFields,
  familyFields,
  type GrantRecord,
  labelLength,
  type NextToken,
  type Read,
  type RefreshFamily,
  type Revocation,
  type RevokedFamily,
  refreshTokenLifetime,
  toCode,
  toEarlier,
  toFamily,
  usedCodeFields,
} from './grant-record.ts';

/** Specification §3. */
export const codeLifetime = seconds(300);
/** Seconds: 10 minutes from its issue in all (R10.5). */
const usedCodeMemory = 300;
/** Seconds from each rotation: 30 days (specification §3), and those of the memory. */
const familyLifetime = refreshTokenLifetime + endedFamilyMemory;

export function grantKeys(familyId: FamilyId): [code: string, family: string] {
  return [`code:{${familyId}}`, `rt:{${familyId}}`];
}

// A family never gets a second code; its own key outlives the used code's.
const create = script(`
if redis.call('EXISTS', KEYS[1], KEYS[2]) > 0 then return 0 end
redis.call('HSET', KEYS[1], unpack(ARGV, 2))
redis.call('EXPIRE', KEYS[1], ARGV[1])
return 1`);

/** Unless its family has or had a code (R6.7). True when this call created it. Atomic. */
export async function createAuthorizationCode(store: RedisStore, code: AuthorizationCode): Promise<boolean> {
  const [keys, values] = [grantKeys(code.familyId), [codeLifetime, ...codeFields(code)]];
  return (await runReplicated(store, 'create authorization code', create, keys, values)) === 1;
}

const read = script(`return {redis.call('PTTL', KEYS[1]), redis.call('HGETALL', KEYS[1])}`);

/** `now` is read after the answer: `keptUntil` is late by the duration of the read at most. */
async function find(
  store: RedisStore,
  operation: string,
  key: string,
  familyId: FamilyId,
  now: () => number,
): Promise<FoundFields> {
  const answer = await runScript(store, operation, read, [key], []);
  return toFields(familyId, answer as ReadAnswer, now());
}

type ReadAnswer = [ttlMs: number, words: string[]];

function toFields(familyId: FamilyId, [ttlMs, words]: ReadAnswer, now: number): FoundFields {
  const fields: Record<string, string> = {};
  for (let i = 0; i < words.length; i += 2) fields[words[i] ?? ''] = words[i + 1] ?? '';
  return { familyId, fields, ttlMs, now };
}

export async function readAuthorizationCode(store: RedisStore, familyId: FamilyId, now: () => number) {
  const [key] = grantKeys(familyId);
  return toCode(await find(store, 'read authorization code', key, familyId, now));
}

export async function readRefreshFamily(store: RedisStore, familyId: FamilyId, now: () => number) {
  const [, key] = grantKeys(familyId);
  return toFamily(await find(store, 'read refresh family', key, familyId, now));
}

// Milliseconds that the key must have left, so that clocks need not agree (decision 0025): a command after the
// caller's deadline consumes nothing.
function leastTtl({ keptUntil }: Read<GrantRecord>, latest: number): number {
  return Math.ceil(keptUntil - latest);
}

function inTime(answer: unknown): unknown {
  if (answer === -1) throw new Overloaded('script_after_deadline');
  return answer;
}

// The family loses its secret and keeps its key, so that nothing restores it. The first revocation stays.
const revoke = `
local function revoke(reason, request, at)
  if redis.call('HDEL', KEYS[2], 'hash') == 0 then return 0 end
  redis.call('HDEL', KEYS[2], 'step', 'step_by')
  redis.call('HSET', KEYS[2], 'revoked', reason, 'revoked_by', request, 'revoked_at', at)
  return 1
end`;

// A used code revokes its family (R10.2): whether there was one, and who used the code.
const revokeReplayed = `${revoke}
local hash, used, by = unpack(redis.call('HMGET', KEYS[1], 'hash', 'used', 'used_by'))
if used and hash == ARGV[1] then
  return {revoke('code_replayed', ARGV[2], ARGV[3]), used, by}
end`;

// Uses the code and starts the family in one step (R9.3); concurrent exchanges find the mark and are replays (R10.2).
// An existing family is left as it is. The code is written anew: a hash that once held a long value stays unpacked.
const exchange = script(`${revokeReplayed}
if hash ~= ARGV[1] or redis.call('EXISTS', KEYS[2]) == 1 then
  return {0}
end
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[4]) then return -1 end
local memory = redis.call('TTL', KEYS[1]) + ARGV[5]
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], unpack(ARGV, 8, 7 + ARGV[7]))
redis.call('EXPIRE', KEYS[1], memory)
redis.call('HSET', KEYS[2], unpack(ARGV, 8 + ARGV[7]))
redis.call('EXPIRE', KEYS[2], ARGV[6])
return 1`);

/**
 * Uses `code` and starts its family with `next`. A code that was used meanwhile makes this a replay, and the
 * family is `revoked` (R10.2); `gone`: it expired or ended. Throws `temporarily_unavailable` after `latest`
 * (milliseconds since the epoch), and nothing has changed. Atomic.
 */
export async function exchangeCode(
  store: RedisStore,
  code: Read<AuthorizationCode>,
  next: NextToken,
  latest: number,
): Promise<
  'exchanged' | 'gone' | { readonly revoked: boolean; readonly usedBy: EarlierRequest | undefined }
> {
  const lifetimes = [leastTtl(code, latest), usedCodeMemory, familyLifetime];
  const used = usedCodeFields(code, next);
  const fields = [used.length, ...used, ...familyFields(code, next)];
  const values = [code.hash, next.requestId, next.issuedAt, ...lifetimes, ...fields];
  const keys = grantKeys(code.familyId);
  const answer = inTime(await runReplicated(store, 'exchange authorization code', exchange, keys, values));
  if (answer === 1) return 'exchanged';
  const [revoked, at, by] = answer as [number?, string?, string?];
  if (at === undefined) return 'gone';
  return { revoked: revoked === 1, usedBy: toEarlier(at, by) };
}

const replay = script(`${revokeReplayed}
return {0}`);

/** False when the family was gone. Atomic. */
export async function revokeOnReplay(
  store: RedisStore,
  { familyId, hash }: PresentedToken,
  { requestId, at }: EarlierRequest,
): Promise<boolean> {
  const values = [hash, requestId, at];
  const answer = await runReplicated(store, 'revoke on replay', replay, grantKeys(familyId), values);
  return (answer as [number])[0] === 1;
}

// Compare-and-set: the first of concurrent rotations changes the hash, the others are given the family as it is now.
const rotate = script(`
local ttl = redis.call('PTTL', KEYS[1])
if redis.call('HGET', KEYS[1], 'hash') ~= ARGV[1] or ttl <= tonumber(ARGV[3]) then
  return {ttl, redis.call('HGETALL', KEYS[1])}
end
if ttl < tonumber(ARGV[2]) then return -1 end
local step = string.sub(ARGV[4], 1, ${labelLength}) .. string.sub(ARGV[1], 1, ${labelLength})
redis.call('HSET', KEYS[1], 'hash', ARGV[4], 'issued_at', ARGV[5], 'step', step, 'step_by', ARGV[6])
redis.call('EXPIRE', KEYS[1], ${familyLifetime})
return 1`);

/**
 * Replaces the current token of `family` by `next`, for another 30 days. Returns the family as it is if the token is no
 * longer current; throws `temporarily_unavailable` after `latest` (milliseconds since the epoch): nothing has changed.
 * Atomic.
 */
export async function rotateRefreshToken(
  store: RedisStore,
  family: Read<RefreshFamily>,
  next: NextToken,
  latest: number,
): Promise<'rotated' | Read<RefreshFamily> | RevokedFamily | undefined> {
  const { familyId, hash, memoryMs } = family;
  const [, key] = grantKeys(familyId);
  const values = [hash, leastTtl(family, latest), memoryMs, next.hash, next.issuedAt, next.requestId];
  const answer = inTime(await runReplicated(store, 'rotate refresh token', rotate, [key], values));
  return answer === 1 ? 'rotated' : toFamily(toFields(familyId, answer as ReadAnswer, next.issuedAt));
}

// The code's mark outlives the 10 s in which a browser may repeat its decision, so that a repeat creates no code
// (R6.7).
const remove = script(`${revoke}
if redis.call('HGET', KEYS[1], 'hash') ~= ARGV[1] and redis.call('HGET', KEYS[2], 'hash') ~= ARGV[1] then
  return 0
end
revoke(ARGV[2], ARGV[3], ARGV[4])
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'used', 1)
redis.call('EXPIRE', KEYS[1], 60)
return 1`);

/** If `hash` is the current secret of either (R13.2, R13.3). Atomic. */
export async function deleteGrant(
  store: RedisStore,
  { familyId, hash }: PresentedToken,
  { revoked, requestId, at }: Revocation,
): Promise<void> {
  await runReplicated(store, 'delete grant', remove, grantKeys(familyId), [hash, revoked, requestId, at]);
}
