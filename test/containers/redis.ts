// Redis as containers: one server, or a master with two replicas that three Sentinels watch.
import { setTimeout as sleep } from 'node:timers/promises';
import {
  GenericContainer,
  getContainerRuntimeClient,
  type StartedNetwork,
  type StartedTestContainer,
  Wait,
} from 'testcontainers';
import { redisImage } from './settings.ts';

export interface RedisContainer {
  readonly container: StartedTestContainer;
  readonly close: () => Promise<void>;
}

const durable = ['--appendonly', 'yes', '--appendfsync', 'always', '--maxmemory-policy', 'noeviction'];

export async function startRedis(
  network: StartedNetwork,
  name = 'redis',
  options: readonly string[] = [],
): Promise<RedisContainer> {
  const container = await new GenericContainer(redisImage)
    .withNetwork(network)
    .withNetworkAliases(name)
    .withCommand(['redis-server', '--protected-mode', 'no', ...durable, ...options])
    .withExposedPorts(6379)
    .withWaitStrategy(Wait.forLogMessage(/Ready to accept connections/))
    .start();
  return {
    container,
    close: async () => {
      await container.stop();
    },
  };
}

const sentinelNames = ['sentinel-1', 'sentinel-2', 'sentinel-3'] as const;

/** What identity is told to find the master. */
export const sentinelSettings = {
  REDIS_URL: `redis://${sentinelNames.join(',')}`,
  REDIS_SENTINEL_MASTER: 'main',
  REDIS_MIN_REPLICAS: '1',
};

export interface ReplicatedRedis extends RedisContainer {
  /** Ends the master of the start at once; its container stays. */
  readonly killFirst: () => Promise<unknown>;
  /** Starts it again on its data, still of the opinion that it is master. */
  readonly reviveFirst: () => Promise<unknown>;
  /** The address of the master as the Sentinels know it now. */
  readonly master: () => Promise<string>;
  /** `master` or `slave`: what the first server says that it is. */
  readonly roleOfFirst: () => Promise<string>;
}

export async function startReplicatedRedis(network: StartedNetwork): Promise<ReplicatedRedis> {
  const least = ['--min-replicas-to-write', '1', '--repl-diskless-sync-delay', '0'];
  const first = await startRedis(network, 'redis-1', least);
  const address = first.container.getIpAddress(network.getName());
  const replicaOf = ['--replicaof', address, '6379', ...least];
  const replicas = await Promise.all(
    ['redis-2', 'redis-3'].map((name) => startRedis(network, name, replicaOf)),
  );
  const sentinels = await Promise.all(sentinelNames.map((name) => startSentinel(network, name, address)));
  await Promise.all(sentinels.map(waitUntilItKnowsAll));
  const [sentinel] = sentinels as [StartedTestContainer];
  const { dockerode } = (await getContainerRuntimeClient()).container;
  const handle = dockerode.getContainer(first.container.getId());
  return {
    container: first.container,
    killFirst: () => handle.kill({ signal: 'SIGKILL' }),
    reviveFirst: () => handle.start(),
    master: async () => {
      const answer = await ask(sentinel, 26379, 'sentinel', 'get-master-addr-by-name', 'main');
      return answer.split('\n')[0]?.trim() ?? '';
    },
    roleOfFirst: async () =>
      /role:(\w+)/.exec(await ask(first.container, 6379, 'info', 'replication'))?.[1] ?? '',
    close: async () => {
      await Promise.all(sentinels.map((container) => container.stop()));
      await Promise.all([first, ...replicas].map((redis) => redis.close()));
    },
  };
}

async function ask(container: StartedTestContainer, port: number, ...words: string[]): Promise<string> {
  const { output } = await container.exec(['redis-cli', '-p', String(port), ...words]);
  return output;
}

/** A Sentinel asks the master for its replicas every 10 s, and promotes none that it does not know. */
async function waitUntilItKnowsAll(sentinel: StartedTestContainer): Promise<void> {
  for (const end = performance.now() + 60_000; ; await sleep(500)) {
    const answer = await ask(sentinel, 26379, 'info', 'sentinel');
    if (/status=ok.*slaves=2,sentinels=3/.test(answer)) return;
    if (performance.now() > end) throw new Error(`A Sentinel does not know all: ${answer}`);
  }
}

/** Its configuration is a file that it rewrites. */
function startSentinel(network: StartedNetwork, name: string, master: string): Promise<StartedTestContainer> {
  const lines = [
    'port 26379',
    'protected-mode no',
    `sentinel monitor main ${master} 6379 2`,
    'sentinel down-after-milliseconds main 1000',
    'sentinel failover-timeout main 5000',
  ];
  const written = lines.map((line) => `'${line}'`).join(' ');
  const start = `mkdir -p /tmp/sentinel && printf '%s\\n' ${written} > /tmp/sentinel/sentinel.conf && exec redis-server /tmp/sentinel/sentinel.conf --sentinel`;
  return new GenericContainer(redisImage)
    .withNetwork(network)
    .withNetworkAliases(name)
    .withCommand(['sh', '-c', start])
    .withWaitStrategy(Wait.forLogMessage(/\+monitor master main/))
    .start();
}
