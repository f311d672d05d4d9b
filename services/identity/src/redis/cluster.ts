// A Redis Cluster as one connection to each master, by ioredis' map of slots: a write and the WAIT after it reach the
// same node. Nothing is redirected.
import { Cluster, Command, type Redis } from 'ioredis';
import {
  accessOptions,
  type ConnectionOptions,
  hostAsWritten,
  pingWhileIdle,
  type Route,
  retryDelay,
  safeOptions,
} from './options.ts';
import type { RedisTarget } from './settings.ts';

const slots = 16_384;

export function connectCluster(target: RedisTarget, options: ConnectionOptions): Route {
  const safe = safeOptions(target, options);
  const cluster = new Cluster([...target.hosts], {
    lazyConnect: true,
    enableOfflineQueue: false,
    clusterRetryStrategy: retryDelay,
    slotsRefreshInterval: 0,
    slotsRefreshTimeout: 1_000,
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    dnsLookup: hostAsWritten,
    redisOptions: {
      ...safe,
      reconnectOnError: (error) => {
        if (error.message.startsWith('MOVED')) cluster.refreshSlotsCache();
        return safe.reconnectOnError(error);
      },
    },
  });
  const ownerOf = (slot: number) => cluster.slots[slot]?.[0];
  const usable = (address: string | undefined) => {
    const node = cluster.nodes().find(({ options: { host, port } }) => `${host}:${port}` === address);
    return node?.status === 'ready' ? node : undefined;
  };
  const masters = () => {
    const owners = new Set(Array.from({ length: slots }, (_, slot) => ownerOf(slot)));
    const nodes = Array.from(owners, usable);
    return nodes.every((node) => node !== undefined) ? nodes : undefined;
  };
  // A new connection with a node's options reads the map.
  const readAgain = () => {
    for (const node of cluster.nodes()) Object.assign(node.options, accessOptions(target));
  };
  cluster.on('refresh', readAgain);
  cluster.on('node error', readAgain);
  cluster.on('+node', (node: Redis) => {
    Object.assign(node.options, accessOptions(target));
    pingWhileIdle(node);
    if (!node.options.readOnly) node.connect().catch(() => {});
  });
  cluster.connect().catch(() => {});
  // The driver's own timer survives a `disconnect` during a refresh, and would keep the process alive.
  const refreshing = setInterval(() => {
    if (cluster.status === 'ready') cluster.refreshSlotsCache();
  }, 1_000);
  return {
    masterOf: (key) => usable(ownerOf(new Command('exists', [key]).getSlot())),
    masters,
    watch: ({ failed, ready }) => {
      const complete = () => {
        if (masters()) ready();
      };
      cluster.on('error', failed);
      cluster.on('node error', failed);
      cluster.on('refresh', complete);
      cluster.on('+node', (node: Redis) => node.on('ready', complete));
    },
    close: () => {
      clearInterval(refreshing);
      cluster.disconnect();
    },
  };
}
