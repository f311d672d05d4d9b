// Key `code:of:{sub}`: the unexchanged codes of a user, of which there are at most 1,000.
import { inMilliseconds } from '@course-exchange/rules/brand';
import type { FamilyId } from '../ids.ts';
import type { RedisStore } from '../redis/connect.ts';
import { runScript, script } from '../redis/script.ts';
import type { GrantRecord } from './grant-record.ts';
import { codeLifetime, grantKeys } from './grant-store.ts';

/** The next one ends the oldest. */
const mostCodesOfUser = 1_000;

// Scores ascend, so that the newest code is never evicted.
const list = script(`
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[2])
local newest = redis.call('ZREVRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2] or 0
redis.call('ZADD', KEYS[1], math.max(ARGV[2] + ${inMilliseconds(codeLifetime)}, newest + 1), ARGV[1])
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
 * Counts a code before it is created and ends the user's oldest ones. Each step is atomic; after a crash between them
 * a code lives until it expires. `now`: milliseconds since the epoch.
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
