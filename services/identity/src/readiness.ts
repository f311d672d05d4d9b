// Readiness checks and warnings, a sentence each.
import type { Database } from '@course-exchange/runtime/postgres/pool';
import { schemaProblem } from '@course-exchange/runtime/postgres/schema-version';
import type { ReadinessCheck } from '@course-exchange/runtime/process/health';
import type { KeyRing } from './keys/ring.ts';
import type { RedisStore } from './redis/connect.ts';
import { infoField, readSettingsWarning } from './redis/durability.ts';

export interface ReadinessDeps {
  readonly database: Database;
  readonly redis: RedisStore;
  readonly keys: KeyRing;
  readonly schemaVersion: number;
}

export function readinessChecks({
  database,
  redis,
  keys,
  schemaVersion,
}: ReadinessDeps): Readonly<Record<'redis' | 'postgres' | 'signingKeys', ReadinessCheck>> {
  return {
    redis: () => redisProblem(redis),
    postgres: () => schemaProblem(database, 'identity', schemaVersion),
    signingKeys: async () => keys.problem(),
  };
}

export function readinessWarnings(redis: RedisStore) {
  return {
    redisSettings: () => readSettingsWarning(redis),
    redisMemory: () => redisMemoryWarning(redis),
  };
}

/** Names tried until each master of a Cluster owns one. */
const probeKeys = 64;

/** Writes on each master: one that is full, a replica, or without its replicas may answer reads. */
export async function redisProblem(store: RedisStore): Promise<string | undefined> {
  try {
    const unchecked = new Set(store.masters());
    for (let n = 0; unchecked.size > 0 && n < probeKeys; n += 1) {
      const key = `health:{${n}}`;
      await store.run('probe', key, async (redis) => {
        if (unchecked.delete(redis)) await redis.set(key, 1, 'EX', 10);
      });
    }
    return undefined;
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined;
    const [code] = /^[A-Z]{3,}\b/.exec(cause instanceof Error ? cause.message : '') ?? [];
    return code === undefined ? 'Redis does not answer' : `Redis refuses writes: ${code}`;
  }
}

/** A share of `maxmemory`: at 1, `noeviction` refuses every write. */
const warnedShare = 0.8;

export async function redisMemoryWarning(store: RedisStore): Promise<string | undefined> {
  const share = await redisMemoryShare(store).catch(() => undefined);
  if (share === undefined || share < warnedShare) return undefined;
  return `Redis uses ${Math.floor(share * 100)} % of maxmemory: raise it, or writes will be refused`;
}

export async function redisMemoryShare(store: RedisStore): Promise<number | undefined> {
  const infos = await Promise.all(store.masters().map((master) => master.info('memory')));
  const shares = infos
    .map((info) => Number(infoField(info, 'used_memory')) / Number(infoField(info, 'maxmemory')))
    .filter(Number.isFinite);
  return shares.length === 0 ? undefined : Math.max(...shares);
}
