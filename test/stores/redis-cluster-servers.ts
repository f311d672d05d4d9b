// A Redis Cluster of three masters with a replica each, at 127.0.0.1. Clients reach the masters by links that can
// lose an answer.
import { choosePorts } from '@course-exchange/local-stack/free-ports';
import type { Redis } from 'ioredis';
import { type Link, openLink } from '../support/tcp-link.ts';
import {
  documentedClusterUser,
  durableAt,
  hasReplicas,
  openServers,
  type TestServer,
  until,
} from './redis-servers.ts';

const names = ['a', 'b', 'c'] as const;
type Name = (typeof names)[number];
const password = 'cluster';
const userPassword = 'user';

interface ClusterNode extends TestServer {
  /** Where clients reach it, as `host:port`. */
  readonly address: string;
  readonly id: string;
}

export interface Shard {
  readonly master: ClusterNode;
  readonly replica: ClusterNode;
  readonly link: LossyLink;
}

export async function startCluster() {
  const servers = await openServers();
  const links: LossyLink[] = [];
  const start = async (
    name: string,
  ): Promise<ClusterNode & { bus: number; own: number; link: LossyLink }> => {
    const ports = await choosePorts(['own', 'bus', 'announced']);
    const link = await openLossyLink(ports.announced, ports.own);
    links.push(link);
    const server = await servers.start({
      name,
      lines: [
        ...durableAt(ports.own),
        'cluster-enabled yes',
        `cluster-port ${ports.bus}`,
        'cluster-announce-ip 127.0.0.1',
        `cluster-announce-port ${ports.announced}`,
        `cluster-announce-bus-port ${ports.bus}`,
        // Longer than the machine may stand still: a failover that no test brings about would mix up the masters.
        'cluster-node-timeout 5000',
        'cluster-replica-validity-factor 0',
        `requirepass ${password}`,
        `masterauth ${password}`,
        `user ${documentedClusterUser(userPassword).join(' ')}`,
      ],
      look: { port: ports.own, password },
    });
    const id = String(await server.admin.call('CLUSTER', 'MYID'));
    return { ...server, id, ...ports, link, address: `127.0.0.1:${ports.announced}` };
  };
  const shards = {} as Record<Name, Shard>;
  const nodes = [];
  for (const name of names) {
    const [master, replica] = [await start(name), await start(`${name}-replica`)];
    shards[name] = { master, replica, link: master.link };
    nodes.push(master, replica);
  }
  await form(shards, nodes);
  const seeds = names.map((name) => shards[name].master.address);
  return {
    /** Of the masters, as `host:port`. */
    seeds,
    /** Of that user. */
    userPassword,
    directory: servers.directory,
    shards,
    nodes,
    /** The shard that has `key` by the slots as they were dealt out. */
    shardOf: async (key: string) => {
      const slot = Number(await shards.a.master.admin.call('CLUSTER', 'KEYSLOT', key));
      return shards[names[rangeOf(slot)] ?? 'a'];
    },
    stop: async () => {
      await servers.stop();
      await Promise.all(links.map((link) => link.close()));
    },
  };
}

const slots = 16_384;
const firstOf = (index: number) => Math.ceil((slots / names.length) * index);
const rangeOf = (slot: number) => names.findLastIndex((_, index) => slot >= firstOf(index));

async function form(
  shards: Readonly<Record<Name, Shard>>,
  nodes: readonly (ClusterNode & { readonly own: number; readonly bus: number })[],
): Promise<void> {
  const [first] = nodes;
  for (const [index, { admin }] of nodes.entries()) {
    await admin.call('CLUSTER', 'SET-CONFIG-EPOCH', index + 1);
    if (first && admin !== first.admin)
      await admin.call('CLUSTER', 'MEET', '127.0.0.1', first.own, first.bus);
  }
  for (const [index, name] of names.entries())
    await shards[name].master.admin.call('CLUSTER', 'ADDSLOTSRANGE', firstOf(index), firstOf(index + 1) - 1);
  await until('all know one another', async () =>
    (await Promise.all(nodes.map(({ admin }) => infoOf(admin)))).every((info) =>
      info.includes(`cluster_known_nodes:${nodes.length}`),
    ),
  );
  for (const { master, replica } of Object.values(shards))
    await until(
      'a replica',
      async () => (await replica.admin.call('CLUSTER', 'REPLICATE', master.id)) === 'OK',
    );
  await until('the cluster', async () => {
    const infos = await Promise.all(nodes.map(({ admin }) => infoOf(admin)));
    const replicated = await Promise.all(
      Object.values(shards).map(({ master }) => hasReplicas(master.admin)),
    );
    return infos.every((info) => info.includes('cluster_state:ok')) && replicated.every(Boolean);
  });
}

async function infoOf(admin: Redis): Promise<string> {
  return String(await admin.call('CLUSTER', 'INFO'));
}

interface LossyLink extends Link {
  /** Loses the answer to the next command whose text holds `word`. */
  readonly loseAnswerTo: (word: string) => void;
}

async function openLossyLink(port: number, target: number): Promise<LossyLink> {
  let losing: string | undefined;
  const link = await openLink(
    target,
    (client, upstream) => {
      let lost = false;
      client.on('data', (bytes) => {
        if (losing !== undefined && bytes.includes(losing)) {
          lost = true;
          losing = undefined;
        }
        upstream.write(bytes);
      });
      upstream.on('data', (bytes) => {
        if (lost) client.destroy();
        else client.write(bytes);
      });
      client.on('close', () => upstream.destroy());
      upstream.on('close', () => client.destroy());
    },
    port,
  );
  return {
    ...link,
    loseAnswerTo: (word) => {
      losing = word;
    },
  };
}
