// Redis as containers: one server, or a master with two replicas that three Sentinels watch. sweep.ts ends them.
import { defaultImages } from '@course-exchange/testcontainers/images';
import { redisCommand } from '@course-exchange/testcontainers/stores';
import { RedisContainer } from '@testcontainers/redis';
import { GenericContainer, type StartedNetwork, type StartedTestContainer, Wait } from 'testcontainers';
import type { Copy } from './handles.ts';

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

/** Each may be the master in its turn. */
export async function startReplicatedRedis(network: StartedNetwork) {
  const least = ['--min-replicas-to-write', '1', '--repl-diskless-sync-delay', '0'];
  const first = await startRedis(network, { name: 'redis-1', words: least, onDisk: true });
  const addressOf = (server: StartedTestContainer) => server.getIpAddress(network.getName());
  const words = ['--replicaof', addressOf(first), '6379', ...least];
  const replicas = ['redis-2', 'redis-3'].map((name) => startRedis(network, { name, words, onDisk: true }));
  const servers = [first, ...(await Promise.all(replicas))];
  const watching = sentinelNames.map((name) => startSentinel(network, name, addressOf(first)));
  const [sentinel, ...others] = (await Promise.all(watching)) as [StartedTestContainer];
  // It asks the master for its replicas every 10 s, and promotes none that it does not know.
  for (const one of [sentinel, ...others]) await untilItSays(one, 26379, 'status=ok.*slaves=2,sentinels=3');
  return {
    container: first,
    /** The one that the Sentinels name, and its name on the network. */
    master: async () => {
      const words = ['redis-cli', '-p', '26379', 'sentinel', 'get-master-addr-by-name', 'main'];
      const { output } = await sentinel.exec(words);
      const at = servers.findIndex((server) => addressOf(server) === output.split('\n')[0]?.trim());
      return { server: servers[at] as StartedTestContainer, name: `redis-${at + 1}` };
    },
    /** It follows another one, in sync. */
    untilReplica: (server: StartedTestContainer) => untilItSays(server, 6379, 'master_link_status:up'),
  };
}

/** Asked from inside, which costs the machine least. */
async function untilItSays(container: StartedTestContainer, port: number, words: string): Promise<void> {
  const asked = `redis-cli -p ${port} info | grep --quiet '${words}'`;
  await container.exec(['sh', '-c', `until ${asked}; do sleep 0.2; done`]);
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
