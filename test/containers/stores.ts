// Postgres and Redis as containers on a network of their own, with the roles made and a database that is empty else.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Network, type StartedNetwork, type StartedTestContainer } from 'testcontainers';
import { type Role, roles } from '../support/database-roles.ts';
import { database, type PostgresContainer, password, type Rows, startPostgres } from './postgres.ts';
import { type RedisContainer, startRedis } from './redis.ts';

export interface Stores {
  readonly network: StartedNetwork;
  /** For a container of the network, at `address` or at Postgres itself. */
  readonly postgresUrl: (role: Role, address?: string) => string;
  readonly redisUrl: (address?: string) => string;
  /** A folder of this machine that our containers have as /given. */
  readonly given?: string | undefined;
  readonly keyEncryptionKey: string;
  readonly containers: Readonly<Record<'postgres' | 'redis', StartedTestContainer>>;
  /** One statement as superuser. */
  readonly query: (sql: string) => Promise<Rows>;
  readonly close: () => Promise<void>;
}

export interface StoreOptions {
  /** In the place of one plain server. */
  readonly postgres?: (network: StartedNetwork) => Promise<PostgresContainer>;
  readonly redis?: (network: StartedNetwork) => Promise<RedisContainer>;
  readonly tls?: StoreTls;
}

interface StoreTls {
  /** A folder of this machine with certificates. */
  readonly folder: string;
  /** Behind each address of Postgres: `?sslmode=…`. */
  readonly postgresQuery: string;
  /** Before the address of Redis: `rediss://user:password@`. */
  readonly redisPrefix: string;
}

export async function startStores(options: StoreOptions = {}): Promise<Stores> {
  const { tls } = options;
  const network = await new Network().start();
  const [postgres, redis] = await Promise.all([
    (options.postgres ?? startPostgres)(network),
    (options.redis ?? startRedis)(network),
  ]);
  await postgres.query(readFileSync(new URL('../../deploy/postgres/roles.sql', import.meta.url), 'utf8'));
  for (const role of roles) await postgres.query(`alter role ${role} password '${password}'`);
  return {
    network,
    postgresUrl: (role, address = 'postgres:5432') =>
      `postgres://${role}:${password}@${address}/${database}${tls?.postgresQuery ?? ''}`,
    redisUrl: (address = 'redis:6379') => `${tls?.redisPrefix ?? 'redis://'}${address}`,
    given: tls?.folder,
    keyEncryptionKey: randomBytes(32).toString('base64url'),
    containers: { postgres: postgres.container, redis: redis.container },
    query: postgres.query,
    close: async () => {
      await Promise.all([postgres.close(), redis.close()]);
      await network.stop();
    },
  };
}
