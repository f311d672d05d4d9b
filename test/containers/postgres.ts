// A Postgres as a container: one that may be stopped, killed and started again, asked as superuser from inside.
import { database, postgresContainer, startNetwork } from '@course-exchange/testcontainers/stores';
import type { PostgreSqlContainer } from '@testcontainers/postgresql';
import type { StartedNetwork, StartedTestContainer } from 'testcontainers';
import { until } from '../stores/redis-servers.ts';
import { type Copy, copyFolder, end, join } from './handles.ts';

export const password = 'test-containers';
/** The same in every image, whatever its version: beside its own. */
const dataDirectory = '/var/lib/postgresql/cluster';

export interface PostgresOptions {
  readonly name?: string;
  readonly parameters?: readonly string[];
  /** Shell that the first start runs in the data directory, before anybody can connect. */
  readonly firstStart?: string;
  /** Files from elsewhere, and shell that makes the data directory of them, where they are not it, before the server starts. */
  readonly restore?: { readonly copy: Copy; readonly commands?: string };
}

function containerFor(
  network: StartedNetwork,
  { name = 'postgres', parameters = [], firstStart, restore }: PostgresOptions = {},
): PostgreSqlContainer {
  // It waits for no disk: what a test counts is not to depend on one, and only processes end here, never the machine.
  const settings = ['fsync=off', ...parameters];
  const server = ['postgres', ...settings.flatMap((setting) => ['-c', setting])];
  const restored = `${restore?.commands ?? ''}\nexec bash /usr/local/bin/docker-entrypoint.sh "$@"`;
  const container = postgresContainer(network, password, { name })
    .withEnvironment({ PGDATA: dataDirectory })
    .withCommand(restore ? ['sh', '-euc', restored, 'sh', ...server] : server)
    .withCopyArchivesToContainer(restore ? [{ ...restore.copy, tar: restore.copy.tar() }] : []);
  if (firstStart === undefined) return container;
  const target = '/docker-entrypoint-initdb.d/first-start.sh';
  const content = `set -eu\ncd "$PGDATA"\n${firstStart}\n`;
  return container.withCopyContentToContainer([{ content, target, mode: 0o755 }]);
}

export const startPostgres = (network: StartedNetwork, options: PostgresOptions = {}) =>
  containerFor(network, options).start();

export async function query(postgres: StartedTestContainer, sql: string): Promise<readonly string[]> {
  const words = `psql --no-psqlrc --no-align --tuples-only --username=postgres --dbname=${database}`.split(
    ' ',
  );
  const { exitCode, output, stdout } = await postgres.exec([...words, `--command=${sql}`]);
  if (exitCode !== 0) throw new Error(`${sql}: ${output}`);
  return stdout.split('\n').filter((line) => line !== '');
}

export type PostgresPair = Awaited<ReturnType<typeof startPostgresPair>>;

export async function startPostgresPair(network: StartedNetwork) {
  // The replica is not to be found under the name `postgres` before its time.
  const link = await startNetwork();
  const firstStart = 'echo "host replication all all scram-sha-256" >> pg_hba.conf';
  const primary = await startPostgres(network, { firstStart });
  await join(link, primary, 'primary');
  const replica = await copyOf(primary, link);
  await primary.restart();
  // Only now: without the replica, nothing would be acknowledged.
  await query(primary, "alter system set synchronous_standby_names = 'replica'");
  await query(primary, 'select pg_reload_conf()');
  const inSync = "select 1 from pg_stat_replication where sync_state = 'sync'";
  await until('the replica follows', async () => (await query(primary, inSync)).length > 0);
  return {
    primary,
    killPrimary: () => end(primary, 'SIGKILL'),
    promoteReplica: async () => {
      await query(replica, 'select pg_promote()');
      await join(network, replica, 'postgres');
    },
  };
}

async function copyOf(primary: StartedTestContainer, link: StartedNetwork): Promise<StartedTestContainer> {
  await end(primary, 'SIGINT');
  const restore = { copy: await copyFolder(primary, dataDirectory) };
  const source = `host=primary user=postgres password=${password} application_name=replica`;
  return containerFor(link, { name: 'replica', parameters: [`primary_conninfo=${source}`], restore })
    .withCopyContentToContainer([{ content: '', target: `${dataDirectory}/standby.signal` }])
    .start();
}
