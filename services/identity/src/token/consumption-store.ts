// The steps that consume a grant, each one script: a code is exchanged, a refresh token rotated, and what came of a
// replayed code revoked (specification §3, R9, R10, R11). What a grant is: grant-store.ts.
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

/** Seconds by which a used code is remembered for longer: 10 minutes from its issue in all (R10). */
const usedCodeMemory = 300;
/** Seconds: 30 days, from each rotation (specification §3). */
const refreshLifetime = 30 * 24 * 60 * 60;

/** The refresh token that takes the place of what was presented. */
export type NextToken = Pick<RefreshFamily, 'hash' | 'issuedAt'>;

// A command that has waited, on its way or in Redis, until nobody waits for its answer any more consumes nothing. How long
// that may be is said as the time that the record may have left, so that the clocks need not agree (decision 0025).
const consumeInTime = `
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then return -1 end`;

/** As ARGV[2] of `consumeInTime`: what a record has left at `latest`, in milliseconds. */
function leastTtl({ expiresAt }: Read<GrantRecord>, latest: number): number {
  return Math.ceil(expiresAt - latest);
}

/** Throws where a script came too late: then nothing has changed. */
function inTime(answer: unknown): unknown {
  if (answer === -1) throw new Overloaded('Redis came to it too late');
  return answer;
}

// Shared by both scripts: the presented code was used before, so its family is revoked (R10). 2 when there was one.
const revokeReplayed = `
if redis.call('HGET', KEYS[1], 'hash') == ARGV[1] and redis.call('HEXISTS', KEYS[1], 'used') == 1 then
  return 2 * redis.call('DEL', KEYS[2])
end`;

// Atomic: the code is used and the family begun in the same step, so no crash lies between them; of N concurrent
// exchanges the first marks the code, the others find the mark and are replays (R9, R10).
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
 * Uses `code` and begins its family with the refresh token `next`. When the code was used meanwhile this was a replay,
 * and the family is `revoked` (R10), unless an earlier replay has done so: `refused`. After `latest`, milliseconds since
 * the epoch, it throws `temporarily_unavailable`, and nothing has changed. Atomic.
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

/** Revokes the family that descends from a used code; false when there was none any more. Atomic. */
export async function revokeOnReplay(
  store: RedisStore,
  { familyId, hash }: PresentedToken,
): Promise<boolean> {
  return (await runReplicated(store, 'revoke on replay', replay, grantKeys(familyId), [hash])) === 2;
}

// Atomic compare-and-set: of N concurrent rotations the first changes the hash, the others no longer match.
const rotate = script(`
if redis.call('HGET', KEYS[1], 'hash') ~= ARGV[1] then return 0 end${consumeInTime}
redis.call('HSET', KEYS[1], 'hash', ARGV[3], 'issued_at', ARGV[4])
redis.call('EXPIRE', KEYS[1], ARGV[5])
return 1`);

/**
 * Consumes the current token of `family`, as it was read, and puts the token with hash `next` in its place, for another
 * 30 days. False when it is not current any more. After `latest`, milliseconds since the epoch, it throws
 * `temporarily_unavailable`. In both cases nothing has changed. Atomic.
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
