// A database and Redis for identity's store tests: a fresh database on the throwaway server, migrated as the
// product does it, opened with the service's own role.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createLogger } from '@course-exchange/runtime/logger';
import { migrate } from '@course-exchange/runtime/migrations';
import { type Database, openDatabase } from '@course-exchange/runtime/postgres';
import { connectRedis, type RedisStore } from '@course-exchange/runtime/redis';
import { redisAt } from '@course-exchange/runtime/redis-settings';
import { Secret } from '@course-exchange/runtime/secret';
import type { Redis } from 'ioredis';
import pg from 'pg';
import type { ReplicatedStore } from '../../services/identity/src/store/redis/replication.ts';

const repository = new URL('../../', import.meta.url).pathname;
const silent = createLogger('test', 'error', () => {});
export const keyEncryptionKey = new Secret(randomBytes(32));

/** An address from the environment that test/support/store-setup.ts fills. */
function address(name: 'TEST_POSTGRES_URL' | 'TEST_REDIS_URL'): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is missing: run this suite through test/run.ts`);
  return value;
}

export interface IdentityDatabase {
  /** As role identity_rw. */
  readonly database: Database;
  /** As role identity_operator. */
  readonly operator: Database;
  /** As superuser: what operators and seeds do. */
  readonly sql: (text: string, values?: unknown[]) => Promise<Record<string, unknown>[]>;
  /** As superuser, through the service's own driver. */
  readonly owner: Database;
  readonly close: () => Promise<void>;
}

/** A migrated database of its own; `close` drops it. */
export async function openIdentityDatabase(poolSize = 10): Promise<IdentityDatabase> {
  const name = `identity_${randomBytes(6).toString('hex')}`;
  const server = new URL(address('TEST_POSTGRES_URL'));
  await once(server.href, `create database ${name}`);
  const superuser = new URL(server);
  superuser.pathname = `/${name}`;
  await once(superuser.href, readFileSync(`${repository}deploy/postgres/roles.sql`, 'utf8'));
  const password = randomBytes(12).toString('hex');
  for (const role of ['identity_rw', 'identity_operator'])
    await once(superuser.href, `alter role ${role} password '${password}'`);
  await migrate(superuser.href, 'identity', `${repository}services/identity/migrations`);
  const as = (role: string): string => {
    const service = new URL(superuser);
    service.username = role;
    service.password = password;
    return service.href;
  };
  const database = open(as('identity_rw'), poolSize);
  const operator = open(as('identity_operator'), poolSize);
  const owner = open(superuser.href, 4);
  return {
    database,
    operator,
    owner,
    sql: async (text, values = []) => owner.query({ name: '', text }, values),
    close: async () => {
      await database.close();
      await operator.close();
      await owner.close();
      await once(server.href, `drop database ${name} with (force)`);
    },
  };
}

function open(url: string, poolSize: number): Database {
  return openDatabase({
    url,
    applicationName: 'test',
    poolSize,
    statementTimeoutMs: 5_000,
    schema: 'identity',
    logger: silent,
  });
}

async function once(url: string, text: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query(text).finally(() => client.end());
}

/** `count` connections of their own to one Redis. */
export async function openRedis(count = 1): Promise<ReplicatedStore[]> {
  const stores = Array.from({ length: count }, () =>
    connectRedis({
      place: redisAt(address('TEST_REDIS_URL')),
      connectionName: 'test',
      commandTimeoutMs: 5_000,
      logger: silent,
    }),
  );
  await Promise.all(stores.map(({ onceReady }) => new Promise<void>(onceReady)));
  return stores.map((store) => ({ ...store, minReplicas: 0 }));
}

/** The server of a store that has one, to look at it. */
export function serverOf(store: RedisStore | undefined): Redis {
  const [server] = store?.masters() ?? [];
  if (server === undefined) throw new Error('no server');
  return server;
}
