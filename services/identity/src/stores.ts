// Opens the two stores with the times that keep every answer within 2 s (R14).

import type { Logger } from '@course-exchange/runtime/logger';
import { type Database, openDatabase } from '@course-exchange/runtime/postgres';
import { connectRedis } from '@course-exchange/runtime/redis';
import type { IdentityConfig } from './config.ts';
import type { ReplicatedStore } from './store/redis/replication.ts';

/** Below the gateway's 1.8 s, so that the reason is known before the caller gives up. */
const storeTimeoutMs = 1_000;

export interface Stores {
  readonly database: Database;
  readonly redis: ReplicatedStore;
}

/** Connects in the background: the process starts, unready, while a store is away. */
export function openStores(config: IdentityConfig, logger: Logger): Stores {
  const database = openDatabase({
    url: config.POSTGRES_URL.reveal(),
    applicationName: 'identity',
    poolSize: config.POSTGRES_POOL_SIZE,
    statementTimeoutMs: storeTimeoutMs,
    schema: 'identity',
    logger,
  });
  const redis = connectRedis({
    url: config.REDIS_URL.reveal(),
    connectionName: 'identity',
    commandTimeoutMs: storeTimeoutMs,
    logger,
  });
  return { database, redis: { ...redis, minReplicas: config.REDIS_MIN_REPLICAS } };
}
