// A Postgres as a container: one that may be stopped, killed and started again, asked as superuser from outside.
import pg from 'pg';
import {
  GenericContainer,
  getContainerRuntimeClient,
  type StartedNetwork,
  type StartedTestContainer,
  Wait,
} from 'testcontainers';
import { postgresImage } from './settings.ts';

export const database = 'course_exchange';
export const password = 'test-containers';
/** The same in every image, whatever its version: beside its own. */
export const dataDirectory = '/var/lib/postgresql/cluster';

export type Rows = readonly Record<string, unknown>[];

export interface PostgresContainer {
  readonly container: StartedTestContainer;
  /** One statement as superuser, on a connection of its own. */
  readonly query: (sql: string) => Promise<Rows>;
  readonly close: () => Promise<void>;
}

export interface PostgresOptions {
  /** Name on the network. */
  readonly name?: string;
  /** Settings of the server: `name=value`. */
  readonly parameters?: readonly string[];
  /** Shell that the first start runs in the data directory, before anybody can connect. */
  readonly firstStart?: string;
  /** How the superuser's connection is encrypted, where the server wants that. */
  readonly ssl?: pg.ClientConfig['ssl'];
}

export function postgresContainer(
  network: StartedNetwork,
  { name = 'postgres', parameters = [], firstStart }: PostgresOptions = {},
): GenericContainer {
  const container = new GenericContainer(postgresImage)
    .withNetwork(network)
    .withNetworkAliases(name)
    .withEnvironment({ POSTGRES_PASSWORD: password, POSTGRES_DB: database, PGDATA: dataDirectory })
    .withCommand(['postgres', ...parameters.flatMap((parameter) => ['-c', parameter])])
    .withExposedPorts(5432)
    // Over TCP, where the server that makes the database does not listen.
    .withWaitStrategy(Wait.forSuccessfulCommand('pg_isready --quiet --host=127.0.0.1'));
  if (firstStart === undefined) return container;
  const target = '/docker-entrypoint-initdb.d/first-start.sh';
  const content = `set -eu\ncd "$PGDATA"\n${firstStart}\n`;
  return container.withCopyContentToContainer([{ content, target, mode: 0o755 }]);
}

export async function startPostgres(
  network: StartedNetwork,
  options: PostgresOptions = {},
): Promise<PostgresContainer> {
  const container = await postgresContainer(network, options).start();
  return {
    container,
    query: (sql) => queryAsSuperuser(container, sql, options.ssl),
    close: async () => {
      await container.stop();
    },
  };
}

/** Asks for the port each time: a container that starts again gets another one. */
export async function queryAsSuperuser(
  container: StartedTestContainer,
  sql: string,
  ssl: pg.ClientConfig['ssl'] = false,
): Promise<Rows> {
  const client = new pg.Client({
    host: container.getHost(),
    port: container.getMappedPort(5432),
    user: 'postgres',
    password,
    database,
    ssl,
    connectionTimeoutMillis: 5_000,
  });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Sends the signal, and waits until the server has ended. */
export async function end(container: StartedTestContainer, signal: 'SIGINT' | 'SIGKILL'): Promise<void> {
  const { dockerode } = (await getContainerRuntimeClient()).container;
  const handle = dockerode.getContainer(container.getId());
  const ended = handle.wait();
  await handle.kill({ signal });
  await ended;
}
