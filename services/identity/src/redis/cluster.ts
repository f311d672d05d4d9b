// A Redis Cluster as one connection to each master. ioredis learns which node has which slot; which connection a
// store operation takes is decided here, so that a write and the WAIT after it reach the same node, and nothing
// but a redirected command, which was not executed, is ever sent a second time.
import { Cluster, Command, type Redis } from 'ioredis';
import {
  accessOptions,
  type ConnectionOptions,
  hostAsWritten,
  pingWhileIdle,
  retryDelay,
  safeOptions,
} from './options.ts';
import type { RedisTarget } from './settings.ts';

const slots = 16_384;
/** Milliseconds between refreshes of the slot map, beside those that a redirection or a lost node asks for. */
const mapAgeMs = 5_000;
/** The same while a slot has no master that answers. */
const searchMs = 1_000;
const lostNodeMs = 200;

/** Where a command goes that was answered with a redirection. */
export interface Redirection {
  readonly redis: Redis;
  /** The slot is on its way to that node: ASKING goes before the command. */
  readonly asking: boolean;
}

export interface RedisCluster {
  readonly cluster: Cluster;
  /** The connection to the master of `key`; undefined while there is none. */
  readonly masterOf: (key: string) => Redis | undefined;
  /** Connections to all masters; undefined unless every slot has one that answers. */
  readonly masters: () => readonly Redis[] | undefined;
  /** Undefined when `error` is no redirection. */
  readonly redirect: (error: unknown, key: string) => Promise<Redirection | undefined>;
  readonly close: () => void;
}

export function connectCluster(target: RedisTarget, options: ConnectionOptions): RedisCluster {
  const cluster = new Cluster([...target.hosts], {
    lazyConnect: true,
    enableOfflineQueue: false,
    scaleReads: 'master',
    clusterRetryStrategy: retryDelay,
    // `followNodes` refreshes it, after it has read user and password again.
    slotsRefreshInterval: 0,
    slotsRefreshTimeout: 1_000,
    // By default a command whose answer was lost with its connection is sent again.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    maxRedirections: 5,
    dnsLookup: hostAsWritten,
    redisOptions: safeOptions(target, options),
  });
  const masters = () => {
    const nodes = [...ownersOf(cluster)].map((address) => usable(nodeAt(cluster, address)));
    return nodes.every((node) => node !== undefined) ? nodes : undefined;
  };
  const stopFollowing = followNodes(cluster, target, () => masters() !== undefined);
  cluster.connect().catch(() => {});
  return {
    cluster,
    masterOf: (key) => usable(nodeAt(cluster, cluster.slots[slotOf(key)]?.[0])),
    masters,
    redirect: async (error, key) => {
      const [kind, , address] = error instanceof Error ? error.message.split(' ') : [];
      if (kind !== 'MOVED' && kind !== 'ASK') return undefined;
      // A read, which may be repeated: with it ioredis follows the redirection and corrects its map.
      await cluster.exists(key);
      const redis = usable(nodeAt(cluster, address));
      return redis && { redis, asking: kind === 'ASK' };
    },
    close: () => {
      stopFollowing();
      cluster.disconnect();
    },
  };
}

const clusterNodes = new WeakSet<Redis>();

/**
 * Lets the next command through to a slot that is on its way to this node of a Cluster; else nothing. To be said again
 * by whoever sends a second command in place of one that this node took and could not run.
 */
export function sendAskingAgain(redis: Redis): void {
  if (clusterNodes.has(redis)) redis.asking().catch(() => {});
}

/** Connects to each master before it is needed, and refreshes the slot map: often while it is incomplete. */
function followNodes(cluster: Cluster, target: RedisTarget, whole: () => boolean): () => void {
  // A refresh is a new connection, with the options of one of the nodes.
  const readAgain = () => {
    const access = accessOptions(target);
    for (const { options } of cluster.nodes()) Object.assign(options, access);
  };
  const refresh = () => {
    if (cluster.status !== 'ready') return;
    readAgain();
    cluster.refreshSlotsCache();
  };
  let afterLoss: NodeJS.Timeout | undefined;
  cluster.on('+node', (node: Redis) => {
    clusterNodes.add(node);
    Object.assign(node.options, accessOptions(target));
    pingWhileIdle(node);
    if (!node.options.readOnly) node.connect().catch(() => {});
  });
  cluster.on('node error', readAgain);
  cluster.on('-node', () => {
    clearTimeout(afterLoss);
    afterLoss = setTimeout(refresh, lostNodeMs);
  });
  let rounds = 0;
  const regular = setInterval(() => {
    rounds = (rounds + 1) % (mapAgeMs / searchMs);
    if (rounds === 0 || !whole()) refresh();
  }, searchMs);
  return () => {
    clearTimeout(afterLoss);
    clearInterval(regular);
  };
}

function nodeAt(cluster: Cluster, address: string | undefined): Redis | undefined {
  return cluster.nodes().find(({ options: { host, port } }) => `${host}:${port}` === address);
}

/** `host:port` of each master, and undefined where a slot has none. */
function ownersOf(cluster: Cluster): Set<string | undefined> {
  const owners = new Set<string | undefined>();
  for (let slot = 0; slot < slots; slot++) owners.add(cluster.slots[slot]?.[0]);
  return owners;
}

function slotOf(key: string): number {
  return new Command('exists', [key]).getSlot();
}

function usable(node: Redis | undefined): Redis | undefined {
  // A replica that became master has had no connection yet.
  if (node?.status === 'wait') node.connect().catch(() => {});
  return node?.status === 'ready' ? node : undefined;
}
