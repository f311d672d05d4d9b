// A Redis Cluster of three masters with a replica each, at 127.0.0.1.
import { setTimeout as sleep } from 'node:timers/promises';
import { choosePorts } from '@course-exchange/local-stack/free-ports';
import * as redis from './redis-servers.ts';

const names = ['a', 'b', 'c'] as const;
const slots = 16_384;
const password = 'cluster';
const userPassword = 'user';

interface ClusterNode extends redis.TestServer {
  readonly port: number;
  readonly id: string;
}

export interface Shard {
  readonly master: ClusterNode;
  readonly replica: ClusterNode;
}

export async function startCluster() {
  const servers = await redis.openServers();
  let epoch = 0;
  let first: { readonly port: number; readonly bus: number } | undefined;
  const start = async (name: string): Promise<ClusterNode> => {
    const ports = await choosePorts(['port', 'bus']);
    const { port, bus } = ports;
    const lines = [
      ...redis.durableAt(port),
      'cluster-enabled yes',
      `cluster-port ${bus}`,
      // A machine may stand still for a minute: no failover but those that a test brings about.
      'cluster-node-timeout 60000',
      `requirepass ${password}`,
      `masterauth ${password}`,
      `user ${redis.documentedClusterUser(userPassword).join(' ')}`,
    ];
    const server = await servers.start({ name, lines, look: { port, password } });
    const { admin } = server;
    // As `redis-cli --cluster create` does: of two masters with one epoch the nodes would later change one.
    epoch += 1;
    await admin.call('CLUSTER', 'SET-CONFIG-EPOCH', epoch);
    first ??= ports;
    await admin.call('CLUSTER', 'MEET', '127.0.0.1', first.port, first.bus);
    return { ...server, port, id: String(await admin.call('CLUSTER', 'MYID')) };
  };
  const startShard = async (name: string): Promise<Shard> => ({
    master: await start(name),
    replica: await start(`${name}-replica`),
  });
  const shards = { a: await startShard('a'), b: await startShard('b'), c: await startShard('c') };
  const all = Object.values(shards);
  const nodes = all.flatMap(({ master, replica }) => [master, replica]);
  const firstOf = (index: number) => Math.ceil((slots / names.length) * index);
  for (const [index, { master, replica }] of all.entries()) {
    const { admin } = master;
    await admin.call('CLUSTER', 'ADDSLOTSRANGE', firstOf(index), firstOf(index + 1) - 1);
    const follow = () => replica.admin.call('CLUSTER', 'REPLICATE', master.id);
    await redis.until('a replica', async () => (await follow()) === 'OK');
  }
  for (const { admin } of nodes)
    await redis.until('the cluster', async () =>
      /state:ok/.test(String(await admin.call('CLUSTER', 'INFO'))),
    );
  for (const { master } of all) await redis.until('its replica', () => redis.hasReplicas(master.admin));
  return {
    /** Of the masters, as `host:port`. */
    seeds: all.map(({ master }) => `127.0.0.1:${master.port}`),
    password,
    userPassword,
    directory: servers.directory,
    shards,
    nodes,
    /** The shard that has `key` by the slots as they were dealt out. */
    shardOf: async (key: string) => {
      const slot = Number(await shards.a.master.admin.call('CLUSTER', 'KEYSLOT', key));
      return shards[names[names.findLastIndex((_, index) => slot >= firstOf(index))] ?? 'a'];
    },
    /**
     * Kills the master of a shard until `meanwhile` has ended. A second later its replica takes the slots, without an election,
     * whose outcome hangs on what each node knows of the others.
     */
    withoutMaster: async ({ master, replica }: Shard, meanwhile: () => Promise<void>) => {
      master.kill('SIGKILL');
      try {
        await sleep(1_000);
        await replica.admin.call('CLUSTER', 'FAILOVER', 'TAKEOVER');
        await redis.until('another master', async () =>
          /role:master/.test(await replica.admin.info('replication')),
        );
        await meanwhile();
      } finally {
        await master.restart();
      }
    },
    stop: servers.stop,
  };
}
