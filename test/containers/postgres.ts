// A Postgres as a container: one that may be stopped, killed and started again, asked as superuser from outside.
import { database, postgresContainer, startNetwork } from '@course-exchange/testcontainers/stores';
import type { PostgreSqlContainer } from '@testcontainers/postgresql';
import pg from 'pg';
import type { StartedNetwork, StartedTestContainer } from 'testcontainers';
import { until } from '../stores/redis-servers.ts';
import { type Copy, copyFolder, end, handleOf, join } from './handles.ts';

export const password = 'test-containers';
/** The same in every image, whatever its version: beside its own. */
const dataDirectory = '/var/lib/postgresql/cluster';

export type Rows = readonly Record<string, unknown>[];

export interface PostgresContainer {
  readonly container: StartedTestContainer;
  /** One statement as superuser, on a connection of its own. */
  readonly query: (sql: string) => Promise<Rows>;
}

export interface PostgresOptions {
  /** Name on the network. */
  readonly name?: string;
  /** Settings of the server: `name=value`. */
  readonly parameters?: readonly string[];
  /** Shell that the first start runs in the data directory, before anybody can connect. */
  readonly firstStart?: string;
  /** Files from elsewhere, and shell that makes the data directory of them before the server starts. */
  readonly restore?: { readonly copy: Copy; readonly commands: string };
  /** How the superuser's connection is encrypted, where the server wants that. */
  readonly ssl?: pg.ClientConfig['ssl'];
}

function containerFor(
  network: StartedNetwork,
  { name = 'postgres', parameters = [], firstStart, restore }: PostgresOptions = {},
): PostgreSqlContainer {
  // It waits for no disk: what a test counts is not to depend on one, and only processes end here, never the machine.
  const settings = ['fsync=off', ...parameters];
  const server = ['postgres', ...settings.flatMap((setting) => ['-c', setting])];
  const restored = `${restore?.commands}\nexec bash /usr/local/bin/docker-entrypoint.sh "$@"`;
  const container = postgresContainer(network, password, { name })
    .withEnvironment({ PGDATA: dataDirectory })
    .withCommand(restore ? ['sh', '-euc', restored, 'sh', ...server] : server)
    .withCopyArchivesToContainer(restore ? [{ ...restore.copy, tar: restore.copy.tar() }] : []);
  if (firstStart === undefined) return container;
  const target = '/docker-entrypoint-initdb.d/first-start.sh';
  const content = `set -eu\ncd "$PGDATA"\n${firstStart}\n`;
  return container.withCopyContentToContainer([{ content, target, mode: 0o755 }]);
}

export async function startPostgres(
  network: StartedNetwork,
  options: PostgresOptions = {},
): Promise<PostgresContainer> {
  const container = await containerFor(network, options).start();
  return {
    container,
    query: (sql) => queryAsSuperuser(container, sql, options.ssl),
  };
}

async function queryAsSuperuser(
  container: StartedTestContainer,
  sql: string,
  ssl: pg.ClientConfig['ssl'] = false,
): Promise<Rows> {
  const client = new pg.Client({
    host: container.getHost(),
    port: await publishedPort(container),
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

/** Asked of the engine each time: a container that starts again, or joins another network, gets another port. */
async function publishedPort(container: StartedTestContainer): Promise<number> {
  const { NetworkSettings } = await (await handleOf(container)).inspect();
  return Number(NetworkSettings.Ports['5432/tcp']?.[0]?.HostPort);
}

export interface PostgresPair extends PostgresContainer {
  readonly killPrimary: () => Promise<void>;
  /** Makes the replica a primary, and gives it the name `postgres`. */
  readonly promoteReplica: () => Promise<void>;
  /** The disk of the replica is full. What it gives resolves when a consent was refused for it, and there is room again. */
  readonly fillDisk: () => Promise<() => Promise<void>>;
}

/** Of the replica, with all its data: small enough to be filled. */
const disk = '/disk';

/** Asks the primary, and after the promotion the replica. */
export async function startPostgresPair(network: StartedNetwork): Promise<PostgresPair> {
  // The replica is not to be found under the name `postgres` before its time.
  const link = await startNetwork();
  const firstStart = 'echo "host replication all all scram-sha-256" >> pg_hba.conf';
  const primary = await startPostgres(network, { firstStart });
  await join(link, primary.container, 'primary');
  const replica = await copyOf(primary.container, link);
  await primary.container.restart();
  // Only now: without the replica, nothing would be acknowledged.
  await primary.query("alter system set synchronous_standby_names = 'replica'");
  await primary.query('select pg_reload_conf()');
  const inSync = "select 1 from pg_stat_replication where sync_state = 'sync'";
  await until('the replica follows', async () => (await primary.query(inSync)).length > 0);
  let promoted = false;
  return {
    container: primary.container,
    query: (sql) => (promoted ? queryAsSuperuser(replica, sql) : primary.query(sql)),
    killPrimary: async () => void (await end(primary.container, 'SIGKILL')),
    promoteReplica: async () => {
      await queryAsSuperuser(replica, 'select pg_promote()');
      await join(network, replica, 'postgres');
      promoted = true;
    },
    fillDisk: async () => {
      // A consent needs a megabyte from now on, and there is room for what others write.
      const megabyte = `default repeat(md5(random()::text), 30000), alter ballast set storage external`;
      const alter = 'alter table identity.consents';
      await queryAsSuperuser(replica, `${alter} add ballast text; ${alter} alter ballast set ${megabyte}`);
      const fill = `cat /dev/zero > ${disk}/filler || truncate --size=-512K ${disk}/filler`;
      await replica.exec(['sh', '-c', fill]);
      const log = async () => (await handleOf(replica)).logs({ stdout: true, stderr: true, follow: false });
      return async () => {
        await until('a consent is refused', async () => (await log()).includes('No space left on device'));
        await replica.exec(['rm', `${disk}/filler`]);
      };
    },
  };
}

async function copyOf(primary: StartedTestContainer, link: StartedNetwork): Promise<StartedTestContainer> {
  await end(primary, 'SIGINT');
  const files = await copyFolder(primary, dataDirectory);
  const source = `host=primary user=postgres password=${password} application_name=replica`;
  const restore = {
    copy: files,
    commands: `mv ${dataDirectory} ${disk} && ln -s ${disk}/cluster ${dataDirectory}`,
  };
  return containerFor(link, { name: 'replica', parameters: [`primary_conninfo=${source}`], restore })
    .withTmpFs({ [disk]: 'size=512m' })
    .withCopyContentToContainer([{ content: '', target: `${dataDirectory}/standby.signal` }])
    .start();
}
