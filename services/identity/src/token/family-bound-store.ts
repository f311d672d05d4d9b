// Key `rt:of:{sub}:<client>`: the refresh families of a user and client in the order in which they began, revoked
// ones first (R11.5). Best effort: a family that is not listed is valid, and a listed one may be gone.
import { inMilliseconds } from '@course-exchange/rules/brand';
import type { ChainableCommander } from 'ioredis';
import type { FamilyId } from '../ids.ts';
import type { RedisStore } from '../redis/connect.ts';
import { runScript, script } from '../redis/script.ts';
import { type FoundFields, type GrantRecord, refreshTokenLifetime, toFamily } from './grant-record.ts';
import { grantKeys } from './grant-store.ts';

/** Seconds after the last exchange: refreshes alone keep a family alive, and do not touch its list. */
const listLifetime = 400 * 24 * 60 * 60;
/** Those that began first, of which one is ended (R11.5). */
export const firstToBegin = 10;
const sampleSize = 90;

export type FamilyOwner = Pick<GrantRecord, 'sub' | 'clientId'>;
type ReadFamily = Pick<GrantRecord, 'familyId'> & { readonly hash?: string };

function listKey({ sub, clientId }: FamilyOwner): string {
  return `rt:of:{${sub}}:${clientId}`;
}

// A list that is emptied meanwhile would come back without its end.
const list = script(`
local begun = tonumber(ARGV[1]) + 1
if begun > 1 then
  redis.call('RPUSH', KEYS[1], unpack(ARGV, 2, begun))
  redis.call('EXPIRE', KEYS[1], ${listLifetime})
end
for i = begun + 1, #ARGV do
  if redis.call('LPOS', KEYS[1], ARGV[i]) then
    redis.call('LPUSH', KEYS[1], ARGV[i])
    redis.call('LREM', KEYS[1], -1, ARGV[i])
  end
end
return redis.call('LLEN', KEYS[1])`);

/** Adds those begun, and moves those revoked to the front, for they are the first to go. Gives how many are listed then. */
export async function listFamilies(
  store: RedisStore,
  owner: FamilyOwner,
  begun: readonly FamilyId[],
  revoked: readonly FamilyId[],
): Promise<number> {
  const values = [begun.length, ...begun, ...revoked];
  return (await runScript(store, 'list families', list, [listKey(owner)], values)) as number;
}

const beyond = script(`
local over = math.min(redis.call('LLEN', KEYS[1]) - ARGV[1], ARGV[2])
if over <= 0 then return {0, {}} end
return {over, redis.call('LRANGE', KEYS[1], 0, over + ${firstToBegin} - 2)}`);

/** How many are `over` the bound, `atOnce` at most; and those that began first, enough to choose each from ten. */
export async function findBeyond(
  store: RedisStore,
  owner: FamilyOwner,
  { most, atOnce }: { readonly most: number; readonly atOnce: number },
): Promise<{ readonly over: number; readonly first: readonly FamilyId[] }> {
  const answer = await runScript(store, 'find first families', beyond, [listKey(owner)], [most, atOnce]);
  const [over, first] = answer as [number, FamilyId[]];
  return { over, first };
}

const after = script(`return redis.call('LRANGE', KEYS[1], ARGV[1], -1)`);

/** Every so many of the others, of which some may have expired unnoticed; which ones, changes with `now`. */
export async function sampleFamilies(
  store: RedisStore,
  owner: FamilyOwner,
  read: number,
  now: number,
): Promise<readonly FamilyId[]> {
  const others = (await runScript(
    store,
    'find other families',
    after,
    [listKey(owner)],
    [read],
  )) as FamilyId[];
  const step = Math.ceil(others.length / sampleSize);
  return others.filter((_, index) => index % step === now % step);
}

/** A command for each family, in one pipeline where one master has them all. */
async function forEach<Family extends { readonly familyId: FamilyId }>(
  store: RedisStore,
  operation: string,
  families: readonly Family[],
  add: (pipeline: ChainableCommander, key: string, family: Family) => void,
): Promise<readonly unknown[]> {
  const keyOf = ({ familyId }: Family) => grantKeys(familyId)[1];
  const groups = store.masters().length === 1 ? [families] : families.map((family) => [family]);
  const answers = groups.flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    return store.run(operation, keyOf(first), async (redis) => {
      const pipeline = redis.pipeline();
      for (const family of group) add(pipeline, keyOf(family), family);
      const answered = (await pipeline.exec()) ?? [];
      for (const [error] of answered) if (error) throw error;
      return answered.map(([, answer]) => answer);
    });
  });
  return (await Promise.all(answers)).flat();
}

/** `family` is undefined if it is gone or has expired. `now`: milliseconds since the epoch. */
export async function readFamilies(store: RedisStore, familyIds: readonly FamilyId[], now: number) {
  const listed = familyIds.map((familyId) => ({ familyId }));
  const answers = await forEach(store, 'read families', listed, (pipeline, key) => pipeline.hgetall(key));
  return familyIds.map((familyId, index) => {
    const fields = answers[index] as FoundFields['fields'];
    const family = toFamily({ familyId, fields, ttlMs: Number.POSITIVE_INFINITY, now });
    const isExpired =
      family?.kind === 'grant' && family.issuedAt <= now - inMilliseconds(refreshTokenLifetime);
    return { familyId, family: isExpired ? undefined : family };
  });
}

const end = `
if (redis.call('HGET', KEYS[1], 'hash') or '') ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`;

/** Gives those that it ended: not what was refreshed since it was read, or is gone. A revoked family has no hash. */
export async function endFamilies<Family extends ReadFamily>(
  store: RedisStore,
  families: readonly Family[],
): Promise<readonly Family[]> {
  const answers = await forEach(store, 'end families', families, (pipeline, key, { hash = '' }) =>
    pipeline.eval(end, 1, key, hash),
  );
  return families.filter((_, index) => answers[index] === 1);
}

const unlist = script(`
for _, family in ipairs(ARGV) do redis.call('LREM', KEYS[1], 0, family) end`);

export async function unlistFamilies(
  store: RedisStore,
  owner: FamilyOwner,
  familyIds: readonly FamilyId[],
): Promise<void> {
  if (familyIds.length > 0) await runScript(store, 'unlist families', unlist, [listKey(owner)], familyIds);
}
