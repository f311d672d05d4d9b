// The steps that consume a grant of grant-store.ts, each one script: a code is exchanged, a refresh token rotated, the
// family of a replayed code revoked (specification §3, R9, R10, R11).
import { Overloaded } from '@course-exchange/runtime/process/errors';
import type { RedisStore } from '../redis/connect.ts';
import { runReplicated, script } from '../redis/script.ts';
import type { PresentedToken } from '../secrets.ts';
import {
  type AuthorizationCode,
  fieldsOf,
  type GrantRecord,
  grantKeys,
  type Read,
  type RefreshFamily,
} from './grant-store.ts';

/** Seconds more that a used code is remembered: 10 minutes from its issue in all (R10). */
const usedCodeMemory = 300;
/** Seconds from each rotation: 30 days (specification §3). */
const refreshLifetime = 30 * 24 * 60 * 60;

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
  if (answer === -1) throw new Overloaded('Redis came to it too late');
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

const replay = script(`${revokeReplayed}
return 0`);

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
  const fields = fieldsOf({ ...code, hash: next.hash }, { issued_at: next.issuedAt });
  const values = [code.hash, leastTtl(code, latest), usedCodeMemory, refreshLifetime, ...fields];
  const keys = grantKeys(code.familyId);
  const answer = inTime(await runReplicated(store, 'exchange authorization code', exchange, keys, values));
  if (answer === 1) return 'exchanged';
  return answer === 2 ? 'revoked' : 'refused';
}

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
