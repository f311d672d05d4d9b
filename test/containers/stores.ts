// Postgres and Redis as containers on a network of their own, with the roles made and a database that is empty else.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import pg from 'pg';
import {
  GenericContainer,
  Network,
  type StartedNetwork,
  type StartedTestContainer,
  Wait,
} from 'testcontainers';
import { postgresImage, redisImage } from './settings.ts';

const database = 'course_exchange';
const password = 'test-containers';
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
  /** The address that a container of the network uses. */
  readonly postgresUrl: (role: Role) => string;
  readonly redisUrl: string;
  readonly keyEncryptionKey: string;
  /** One statement as superuser. */
  readonly query: (sql: string) => Promise<readonly Record<string, unknown>[]>;
  readonly close: () => Promise<void>;
}

export async function startStores(): Promise<Stores> {
  const network = await new Network().start();
  const [postgres, redis] = await Promise.all([startPostgres(network), startRedis(network)]);
  const client = new pg.Client({
    connectionString: `postgres://postgres:${password}@${postgres.getHost()}:${postgres.getMappedPort(5432)}/${database}`,
  });
  client.on('error', () => {});
  await client.connect();
  await client.query(readFileSync(new URL('../../deploy/postgres/roles.sql', import.meta.url), 'utf8'));
  for (const role of roles) await client.query(`alter role ${role} password '${password}'`);
  return {
    network,
    postgresUrl: (role) => `postgres://${role}:${password}@postgres:5432/${database}`,
    redisUrl: 'redis://redis:6379',
    keyEncryptionKey: randomBytes(32).toString('base64url'),
    query: async (sql) => (await client.query<Record<string, unknown>>(sql)).rows,
    close: async () => {
      await client.end();
      await Promise.all([postgres.stop(), redis.stop()]);
      await network.stop();
    },
  };
}

function startPostgres(network: StartedNetwork): Promise<StartedTestContainer> {
  return (
    new GenericContainer(postgresImage)
      .withNetwork(network)
      .withNetworkAliases('postgres')
      .withEnvironment({ POSTGRES_PASSWORD: password, POSTGRES_DB: database })
      .withExposedPorts(5432)
      // The first is the server that makes the database; it takes no connection from outside.
      .withWaitStrategy(Wait.forLogMessage(/database system is ready to accept connections/, 2))
      .start()
  );
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
