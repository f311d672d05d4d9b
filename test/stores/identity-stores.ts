// A database and Redis for identity's store tests: a fresh database on the throwaway server, migrated as the
// product does it, opened with the service's own role.
import { randomBytes } from 'node:crypto';
import { migrate } from '@course-exchange/runtime/postgres/migrate';
import { type Database, openDatabase } from '@course-exchange/runtime/postgres/pool';
import { createLogger } from '@course-exchange/runtime/process/logger';
import { Secret } from '@course-exchange/runtime/process/secret';
import type { Redis } from 'ioredis';
import { afterAll } from 'vitest';
import { connectRedis, type RedisStore } from '../../services/identity/src/redis/connect.ts';
import { openJobDatabase, patient } from './migration-jobs.ts';
import { targetOf } from './redis-servers.ts';

const migrations = new URL('../../services/identity/migrations', import.meta.url).pathname;
const silent = createLogger('test', 'error', () => {});
export const keyEncryptionKey = new Secret(randomBytes(32));

export type IdentityDatabase = Awaited<ReturnType<typeof openIdentityDatabase>>;

/** A migrated database of its own; `close` drops it. */
export async function openIdentityDatabase(poolSize = 50) {
  const job = await openJobDatabase();
  await migrate(job.superuser, 'identity', migrations);
  const database = open(job.as('identity_rw'), poolSize);
  const operator = open(job.as('identity_operator'), 25);
  const owner = open(job.superuser, 4);
  return {
    /** As role identity_rw. */
    database,
    /** As role identity_operator. */
    operator,
    /** As superuser, through the service's own driver. */
    owner,
    /** As superuser: what operators and seeds do. */
    sql: async (text: string, values: unknown[] = []) =>
      owner.query<Record<string, unknown>>({ name: '', text }, values),
    close: async () => {
      await Promise.all([database.close(), operator.close(), owner.close()]);
      await job.close();
    },
  };
}

function open(url: string, poolSize: number): Database {
  return openDatabase({
    url,
    applicationName: 'test',
    poolSize,
    ...patient,
    schema: 'identity',
    logger: silent,
  });
}

/** A database for the tests of this file. */
export async function useIdentityDatabase(): Promise<IdentityDatabase> {
  const identity = await openIdentityDatabase();
  afterAll(identity.close);
  return identity;
}

/** `count` connections of their own to one Redis, for the tests of this file. */
export async function useRedis(count: number): Promise<RedisStore[]> {
  const stores = Array.from({ length: count }, () =>
    connectRedis({
      target: targetOf({ REDIS_URL: process.env.TEST_REDIS_URL ?? '' }),
      connectionName: 'test',
      commandTimeoutMs: 30_000,
      minReplicas: 0,
      logger: silent,
    }),
  );
  afterAll(() => Promise.all(stores.map(({ close }) => close())));
  await Promise.all(stores.map(({ onceReady }) => new Promise<void>(onceReady)));
  return stores;
}

/** The server of a store that has one, to look at it. */
export function serverOf(store: RedisStore | undefined): Redis {
  const [server] = store?.masters() ?? [];
  if (server === undefined) throw new Error('no server');
  return server;
}
