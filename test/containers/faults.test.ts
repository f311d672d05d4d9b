// What containers alone show: each process and store loses its network without a word, and a Postgres is replaced by its
// synchronous replica. One of each service, and a Redis.
import { startNetwork } from '@course-exchange/testcontainers/stores';
import type { StartedNetwork, StartedTestContainer } from 'testcontainers';
import { playEachRow } from '../faults/each-row.ts';
import { table } from '../faults/table.ts';
import type { Target } from '../faults/workload.ts';
import { until } from '../stores/redis-servers.ts';
import {
  copyFolder,
  dataDirectory,
  end,
  handleOfNetwork,
  join,
  password,
  query,
  startPostgres,
  startRedis,
  startStores,
  startSystem,
} from './system.ts';

async function startContainers(): Promise<Target> {
  let replica!: StartedTestContainer;
  const stores = await startStores({
    postgres: async (network) => {
      const pair = await startPostgresPair(network);
      replica = pair.replica;
      return pair.primary;
    },
    redis: startRedis,
  });
  const { stack, containers, network } = await startSystem(stores);
  const partnerctl = async (...words: readonly string[]): Promise<void> => {
    const { exitCode, output } = await containers.identity.exec(['partnerctl', ...words]);
    if (exitCode !== 0) throw new Error(`partnerctl ${words.join(' ')}: ${output}`);
  };

  const faults: Target['faults'] = {
    'cut off': async (part) => {
      const name = part === 'every identity' ? 'identity' : (part as 'design-catalog' | 'postgres' | 'redis');
      // Packets get lost from now on without an error: an unplugged cable.
      const cut = { Container: containers[name].getId(), Force: true };
      await (await handleOfNetwork(network)).disconnect(cut);
      return () => join(network, containers[name], name);
    },
    'replaced by its replica': async () => {
      await end(containers.postgres, 'SIGKILL');
      return async () => {
        await query(replica, 'select pg_promote()');
        await join(network, replica, 'postgres');
        await until('the audit log is whole', () => partnerctl('audit', 'verify').then(() => true));
      };
    },
  };
  return {
    stack,
    faults,
    withdraw: ({ email }, clientId) =>
      partnerctl('consent', 'withdraw', '--user', email, '--client', clientId, '--yes'),
  };
}

async function startPostgresPair(network: StartedNetwork) {
  // The replica is not to be found under the name `postgres` before its time.
  const link = await startNetwork();
  const firstStart = 'echo "host replication all all scram-sha-256" >> pg_hba.conf';
  const primary = await startPostgres(network, { firstStart });
  await join(link, primary, 'primary');
  await end(primary, 'SIGINT');
  const source = `host=primary user=postgres password=${password} application_name=replica`;
  const replica = await startPostgres(link, {
    name: 'replica',
    parameters: [`primary_conninfo=${source}`],
    restore: {
      copy: await copyFolder(primary, dataDirectory),
      commands: `touch ${dataDirectory}/standby.signal`,
    },
  });
  await primary.restart();
  // Only now: without the replica, nothing would be acknowledged.
  await query(primary, "alter system set synchronous_standby_names = 'replica'");
  await query(primary, 'select pg_reload_conf()');
  const inSync = "select 1 from pg_stat_replication where sync_state = 'sync'";
  await until('the replica follows', async () => (await query(primary, inSync)).length > 0);
  return { primary, replica };
}

playEachRow(table.containers, startContainers);
