// Opens the two stores with the times that keep every answer within 2 s (R14).

import type { Logger } from '@course-exchange/runtime/logger';
import { type Database, openDatabase } from '@course-exchange/runtime/postgres';
import { openReads, type PipelinedReads } from '@course-exchange/runtime/postgres-reads';
import { postgresAccess } from '@course-exchange/runtime/postgres-settings';
import { connectRedis } from '@course-exchange/runtime/redis';
import { redisPlace } from '@course-exchange/runtime/redis-settings';
import type { IdentityConfig } from './config.ts';
import type { ReplicatedStore } from './store/redis/replication.ts';

/** Below the gateway's 1.8 s, so that the reason is known before the caller gives up. */
const storeTimeoutMs = 1_000;

export interface Stores {
  readonly database: Database;
  /** For the one short read of a token or user-info request. */
  readonly reads: PipelinedReads;
  readonly redis: ReplicatedStore;
}

/** Connects in the background: the process starts, unready, while a store is away. */
export function openStores(config: IdentityConfig, logger: Logger): Stores {
  const postgres = {
    url: postgresAccess('POSTGRES'),
    applicationName: 'identity',
    statementTimeoutMs: storeTimeoutMs,
    schema: 'identity',
    logger,
  };
  const database = openDatabase({ ...postgres, poolSize: config.POSTGRES_POOL_SIZE });
  const reads = openReads({ ...postgres, readOnly: true });
  const redis = connectRedis({
    place: redisPlace(config),
    connectionName: 'identity',
    commandTimeoutMs: storeTimeoutMs,
    logger,
  });
  return { database, reads, redis: { ...redis, minReplicas: config.REDIS_MIN_REPLICAS } };
}
