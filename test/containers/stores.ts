// Postgres and Redis as containers on a network of their own, with the roles made and a database that is empty else.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  GenericContainer,
  Network,
  type StartedNetwork,
  type StartedTestContainer,
  Wait,
} from 'testcontainers';
import { database, type PostgresContainer, password, type Rows, startPostgres } from './postgres.ts';
import { redisImage } from './settings.ts';

const roles = [
  'identity_migrator',
  'catalog_migrator',
  'identity_rw',
  'identity_operator',
  'catalog_ro',
  'catalog_feed',
];
type Role =
  | 'identity_migrator'
  | 'catalog_migrator'
  | 'identity_rw'
  | 'identity_operator'
  | 'catalog_ro'
  | 'catalog_feed';

export interface Stores {
  readonly network: StartedNetwork;
  /** For a container of the network, at `address` or at Postgres itself. */
  readonly postgresUrl: (role: Role, address?: string) => string;
  readonly redisUrl: (address?: string) => string;
  readonly keyEncryptionKey: string;
  readonly containers: Readonly<Record<'postgres' | 'redis', StartedTestContainer>>;
  /** One statement as superuser. */
  readonly query: (sql: string) => Promise<Rows>;
  readonly close: () => Promise<void>;
}

export interface StoreOptions {
  /** In the place of one plain server. */
  readonly postgres?: (network: StartedNetwork) => Promise<PostgresContainer>;
}

export async function startStores(options: StoreOptions = {}): Promise<Stores> {
  const network = await new Network().start();
  const [postgres, redis] = await Promise.all([
    (options.postgres ?? startPostgres)(network),
    startRedis(network),
  ]);
  await postgres.query(readFileSync(new URL('../../deploy/postgres/roles.sql', import.meta.url), 'utf8'));
  for (const role of roles) await postgres.query(`alter role ${role} password '${password}'`);
  return {
    network,
    postgresUrl: (role, address = 'postgres:5432') => `postgres://${role}:${password}@${address}/${database}`,
    redisUrl: (address = 'redis:6379') => `redis://${address}`,
    keyEncryptionKey: randomBytes(32).toString('base64url'),
    containers: { postgres: postgres.container, redis },
    query: postgres.query,
    close: async () => {
      await Promise.all([postgres.close(), redis.stop()]);
      await network.stop();
    },
  };
}

function startRedis(network: StartedNetwork): Promise<StartedTestContainer> {
  const durable = ['--appendonly', 'yes', '--appendfsync', 'always', '--maxmemory-policy', 'noeviction'];
  return new GenericContainer(redisImage)
    .withNetwork(network)
    .withNetworkAliases('redis')
    .withCommand(['redis-server', '--protected-mode', 'no', ...durable])
    .withExposedPorts(6379)
    .withWaitStrategy(Wait.forLogMessage(/Ready to accept connections/))
    .start();
}
