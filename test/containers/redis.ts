// Redis as containers: one server, or a master with two replicas that three Sentinels watch. sweep.ts ends them.
import { setTimeout as sleep } from 'node:timers/promises';
import { defaultImages } from '@course-exchange/testcontainers/images';
import { redisCommand } from '@course-exchange/testcontainers/stores';
import { RedisContainer } from '@testcontainers/redis';
import {
  GenericContainer,
  getContainerRuntimeClient,
  type StartedNetwork,
  type StartedTestContainer,
  Wait,
} from 'testcontainers';
import type { Copy } from './folders.ts';

interface RedisOptions {
  /** Name on the network. */
  readonly name?: string;
  /** Words for the server, beside those that production asks for. */
  readonly words?: readonly string[];
  /** Content of files in the container, by their path. */
  readonly files?: Readonly<Record<string, string>>;
  /** Its data outlive the process, and can be copied: nothing waits until they are on the disk. Else they are in memory. */
  readonly onDisk?: boolean;
  /** Its data as they once were, on disk. */
  readonly restore?: Copy;
}

/** A disk that is slow for a second would be an outage of Redis, rightly (R14): what a test counts is not to depend on it. */
export async function startRedis(
  network: StartedNetwork,
  { name = 'redis', words = [], files = {}, restore, onDisk = restore !== undefined }: RedisOptions = {},
): Promise<StartedTestContainer> {
  const sync = onDisk ? ['--appendfsync', 'no'] : [];
  return new RedisContainer(defaultImages.redis)
    .withNetwork(network)
    .withNetworkAliases(name)
    .withTmpFs(onDisk ? {} : { '/data': 'uid=999,gid=999' })
    .withCopyContentToContainer(Object.entries(files).map(([target, content]) => ({ target, content })))
    .withCopyArchivesToContainer(restore ? [{ ...restore, tar: restore.tar() }] : [])
    .withCommand([...redisCommand, '--protected-mode', 'no', ...sync, ...words])
    .start();
}

const sentinelNames = ['sentinel-1', 'sentinel-2', 'sentinel-3'] as const;

/** What identity is told to find the master. */
export const sentinelSettings = {
  REDIS_URL: `redis://${sentinelNames.join(',')}`,
  REDIS_SENTINEL_MASTER: 'main',
  REDIS_MIN_REPLICAS: '1',
};

export type ReplicatedRedis = Awaited<ReturnType<typeof startReplicatedRedis>>;

export async function startReplicatedRedis(network: StartedNetwork) {
  const least = ['--min-replicas-to-write', '1', '--repl-diskless-sync-delay', '0'];
  const first = await startRedis(network, { name: 'redis-1', words: least, onDisk: true });
  const address = first.getIpAddress(network.getName());
  const replicaOf = ['--replicaof', address, '6379', ...least];
  await Promise.all(['redis-2', 'redis-3'].map((name) => startRedis(network, { name, words: replicaOf })));
  const sentinels = await Promise.all(sentinelNames.map((name) => startSentinel(network, name, address)));
  await Promise.all(sentinels.map(waitUntilItKnowsAll));
  const [sentinel] = sentinels as [StartedTestContainer];
  const { dockerode } = (await getContainerRuntimeClient()).container;
  const handle = dockerode.getContainer(first.getId());
  return {
    container: first,
    /** Ends the master of the start at once; its container stays. */
    killFirst: () => handle.kill({ signal: 'SIGKILL' }),
    /** Starts it again on its data, still of the opinion that it is master. */
    reviveFirst: () => handle.start(),
    /** The address of the master as the Sentinels know it now. */
    master: async () => {
      const answer = await ask(sentinel, 26379, 'sentinel', 'get-master-addr-by-name', 'main');
      return answer.split('\n')[0]?.trim() ?? '';
    },
    /** `master` or `slave`: what the first server says that it is. */
    roleOfFirst: async () => /role:(\w+)/.exec(await ask(first, 6379, 'info', 'replication'))?.[1] ?? '',
  };
}

async function ask(container: StartedTestContainer, port: number, ...words: string[]): Promise<string> {
  const { output } = await container.exec(['redis-cli', '-p', String(port), ...words]);
  return output;
}

/** A Sentinel asks the master for its replicas every 10 s, and promotes none that it does not know. */
async function waitUntilItKnowsAll(sentinel: StartedTestContainer): Promise<void> {
  for (const end = performance.now() + 120_000; ; await sleep(500)) {
    const answer = await ask(sentinel, 26379, 'info', 'sentinel');
    if (/status=ok.*slaves=2,sentinels=3/.test(answer)) return;
    if (performance.now() > end) throw new Error(`A Sentinel does not know all: ${answer}`);
  }
}

/** Its configuration is a file that it rewrites: on a disk that is slow for a second it would watch nothing meanwhile. */
function startSentinel(network: StartedNetwork, name: string, master: string): Promise<StartedTestContainer> {
  const lines = [
    'port 26379',
    'protected-mode no',
    `sentinel monitor main ${master} 6379 2`,
    // Longer than a busy machine keeps a server waiting.
    'sentinel down-after-milliseconds main 3000',
    'sentinel failover-timeout main 5000',
  ];
  const written = lines.map((line) => `'${line}'`).join(' ');
  const start = `mkdir -p /tmp/sentinel && printf '%s\\n' ${written} > /tmp/sentinel/sentinel.conf && exec redis-server /tmp/sentinel/sentinel.conf --sentinel`;
  return new GenericContainer(defaultImages.redis)
    .withNetwork(network)
    .withNetworkAliases(name)
    .withTmpFs({ '/tmp': '' })
    .withCommand(['sh', '-c', start])
    .withWaitStrategy(Wait.forLogMessage(/\+monitor master main/))
    .start();
}
