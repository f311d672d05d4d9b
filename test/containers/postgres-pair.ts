// A primary and its streaming replica, which has every commit before it is acknowledged. The replica begins as a copy of
// the stopped primary's files, so that any image of the server serves, with or without pg_basebackup.
import { setTimeout as sleep } from 'node:timers/promises';
import {
  getContainerRuntimeClient,
  Network,
  type StartedNetwork,
  type StartedTestContainer,
} from 'testcontainers';
import {
  dataDirectory,
  end,
  type PostgresContainer,
  password,
  postgresContainer,
  queryAsSuperuser,
  startPostgres,
} from './postgres.ts';

export interface PostgresPair extends PostgresContainer {
  readonly killPrimary: () => Promise<void>;
  /** Makes the replica a primary, and gives it the name `postgres`. */
  readonly promoteReplica: () => Promise<void>;
}

/** Asks the primary, and after the promotion the replica. */
export async function startPostgresPair(network: StartedNetwork): Promise<PostgresPair> {
  // The replica is not to be found under the name `postgres` before its time.
  const link = await new Network().start();
  const firstStart = 'echo "host replication all all scram-sha-256" >> pg_hba.conf';
  const primary = await startPostgres(network, { firstStart });
  await join(link, primary.container, 'primary');
  const replica = await copyOf(primary.container, link);
  await primary.container.restart();
  // Only now: without the replica, nothing would be acknowledged.
  await primary.query("alter system set synchronous_standby_names = 'replica'");
  await primary.query('select pg_reload_conf()');
  await untilSynchronous(primary);
  let promoted = false;
  return {
    container: primary.container,
    query: (sql) => (promoted ? queryAsSuperuser(replica, sql) : primary.query(sql)),
    killPrimary: () => end(primary.container, 'SIGKILL'),
    promoteReplica: async () => {
      await queryAsSuperuser(replica, 'select pg_promote()');
      await join(network, replica, 'postgres');
      promoted = true;
    },
    close: async () => {
      await Promise.all([primary.close(), replica.stop()]);
      await link.stop();
    },
  };
}

async function copyOf(primary: StartedTestContainer, link: StartedNetwork): Promise<StartedTestContainer> {
  await end(primary, 'SIGINT');
  const { dockerode } = (await getContainerRuntimeClient()).container;
  const files = await dockerode.getContainer(primary.getId()).getArchive({ path: dataDirectory });
  const source = `host=primary user=postgres password=${password} application_name=replica`;
  return postgresContainer(link, { name: 'replica', parameters: [`primary_conninfo=${source}`] })
    .withCopyArchivesToContainer([{ tar: files as never, target: dataDirectory.replace(/\/[^/]+$/, '') }])
    .withCopyContentToContainer([{ content: '', target: `${dataDirectory}/standby.signal` }])
    .start();
}

async function untilSynchronous({ query }: PostgresContainer): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt += 1, await sleep(100)) {
    const [row] = await query("select 1 from pg_stat_replication where sync_state = 'sync'");
    if (row) return;
  }
  throw new Error('The replica does not follow the primary.');
}

async function join(network: StartedNetwork, container: StartedTestContainer, name: string): Promise<void> {
  const { dockerode } = (await getContainerRuntimeClient()).container;
  await dockerode
    .getNetwork(network.getId())
    .connect({ Container: container.getId(), EndpointConfig: { Aliases: [name] } });
}
