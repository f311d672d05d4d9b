// What a process reports of its stores and keys: readiness checks and warnings, a sentence each, and the gauges that are
// read at each scrape.
import { tokenRefusals } from '@course-exchange/rules/token-verification';
import type { Queries } from '@course-exchange/runtime/postgres/pool';
import { schemaProblem } from '@course-exchange/runtime/postgres/schema-version';
import { listLastingSecrets } from './clients/secret-table.ts';
import type { KeyRing } from './keys/ring.ts';
import { identityMetrics } from './metrics.ts';
import type { RedisStore } from './redis/connect.ts';
import {
  acknowledgingReplicas,
  infoField,
  readSettingsWarning,
  settingDifferences,
} from './redis/durability.ts';

export interface Observed {
  readonly database: Queries;
  readonly redis: RedisStore;
  readonly keys: KeyRing;
}

export function readinessChecks(observed: Observed & { readonly schemaVersion: number }) {
  const { database, redis, keys, schemaVersion } = observed;
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

async function redisMemoryShare(store: RedisStore): Promise<number | undefined> {
  const infos = await Promise.all(store.masters().map((master) => master.info('memory')));
  const shares = infos
    .map((info) => Number(infoField(info, 'used_memory')) / Number(infoField(info, 'maxmemory')))
    .filter(Number.isFinite);
  return shares.length === 0 ? undefined : Math.max(...shares);
}

export function observeStores(observed: Observed & { readonly now: () => number }): void {
  const { database, redis, keys, now } = observed;
  // Prometheus sees no increase in the first value of a series.
  for (const reason of tokenRefusals) identityMetrics.accessTokensRefused.add({ reason }, 0);
  identityMetrics.signingKeyAge.observe(() =>
    keys
      .states()
      .map(({ kid, algorithm, state, since }) => [(now() - since) / 1000, { kid, algorithm, state }]),
  );
  identityMetrics.secretExpiry.observe(async () => {
    const secrets = await listLastingSecrets(database);
    return secrets.map(({ clientId, secretId, expiresAt }) => [
      // Infinite, not left out: needs no alert.
      expiresAt === null ? Number.POSITIVE_INFINITY : (expiresAt - now()) / 1000,
      { client_id: clientId, secret_id: secretId },
    ]);
  });
  identityMetrics.redisMemory.observe(async () => {
    const share = await redisMemoryShare(redis);
    return share === undefined ? [] : [[share, {}]];
  });
  identityMetrics.redisSettings.observe(async () => [[(await settingDifferences(redis)).length, {}]]);
  identityMetrics.redisReplicas.observe(async () => [[await acknowledgingReplicas(redis), {}]]);
  identityMetrics.redisReplicasRequired.observe(() => [[redis.replicas.required, {}]]);
}
