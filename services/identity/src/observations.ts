// Gauges read from stores and keys at each scrape.
import { tokenRefusals } from '@course-exchange/rules/token-verification';
import type { Queries } from '@course-exchange/runtime/postgres/pool';
import { listLastingSecrets } from './clients/secret-table.ts';
import type { KeyRing } from './keys/ring.ts';
import { identityMetrics } from './metrics.ts';
import { redisMemoryShare } from './readiness.ts';
import type { RedisStore } from './redis/connect.ts';
import { acknowledgingReplicas, settingDifferences } from './redis/durability.ts';

export interface Observed {
  readonly database: Queries;
  readonly redis: RedisStore;
  readonly keys: KeyRing;
  readonly now: () => number;
}

const secretsKeptMs = 60_000;

export function observeStores({ database, redis, keys, now }: Observed): void {
  const { signingKeyAge, secretExpiry, redisMemory, redisSettings, redisReplicas, redisReplicasRequired } =
    identityMetrics;
  // Prometheus sees no increase in the first value of a series.
  for (const reason of tokenRefusals) identityMetrics.accessTokensRefused.add({ reason }, 0);
  signingKeyAge.observe(() =>
    keys
      .states()
      .map(({ kid, algorithm, state, since }) => [(now() - since) / 1000, { kid, algorithm, state }]),
  );
  const lastingSecrets = remembered(() => listLastingSecrets(database), secretsKeptMs, now);
  secretExpiry.observe(async () => {
    const secrets = await lastingSecrets();
    return secrets.map(({ clientId, secretId, expiresAt }) => [
      // Infinite, not left out: needs no alert.
      expiresAt === null ? Number.POSITIVE_INFINITY : (expiresAt - now()) / 1000,
      { client_id: clientId, secret_id: secretId },
    ]);
  });
  redisMemory.observe(async () => {
    const share = await redisMemoryShare(redis);
    return share === undefined ? [] : [[share, {}]];
  });
  redisSettings.observe(async () => [[(await settingDifferences(redis)).length, {}]]);
  redisReplicas.observe(async () => [[await acknowledgingReplicas(redis), {}]]);
  redisReplicasRequired.observe(() => [[redis.replicas.required, {}]]);
}

function remembered<T>(read: () => Promise<T>, keptMs: number, now: () => number): () => Promise<T> {
  let kept: { readonly at: number; readonly value: T } | undefined;
  return async () => {
    if (kept === undefined || now() - kept.at >= keptMs) kept = { at: now(), value: await read() };
    return kept.value;
  };
}
