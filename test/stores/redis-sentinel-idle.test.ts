// A process that asks Redis nothing while the master hangs and another is promoted: it must not go on with the old one.
import { choosePorts } from '@course-exchange/local-stack/free-ports';
import { readSettings } from '@course-exchange/runtime/env';
import { createLogger } from '@course-exchange/runtime/logger';
import { connectRedis } from '@course-exchange/runtime/redis';
import { redisPlace, redisSettings } from '@course-exchange/runtime/redis-settings';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { readRefreshFamily } from '../../services/identity/src/store/redis/refresh-families.ts';
import type { ReplicatedStore } from '../../services/identity/src/store/redis/replication.ts';
import { documentedSentinelUser } from './documented-user.ts';
import { durable, openServers, type TestServer, type TestServers, until } from './redis-servers.ts';
import { beginFamily, refresh } from './refresh-load.ts';

let servers: TestServers;
let nodes: Record<'one' | 'two' | 'three', TestServer>;
let sentinel: TestServer;
let ports: Record<'one' | 'two' | 'three' | 'sentinel', number>;

beforeAll(async () => {
  servers = await openServers();
  ports = await choosePorts(['one', 'two', 'three', 'sentinel']);
  const start = (name: 'one' | 'two' | 'three', more: readonly string[]) =>
    servers.start({
      name,
      lines: [...durable, ...more, `port ${ports[name]}`, 'repl-diskless-sync-delay 0'],
      look: { port: ports[name], password: '' },
    });
  const replica = [`replicaof 127.0.0.1 ${ports.one}`];
  nodes = {
    one: await start('one', []),
    two: await start('two', replica),
    three: await start('three', replica),
  };
  sentinel = await servers.start({
    name: 'sentinel',
    sentinel: true,
    lines: [
      `port ${ports.sentinel}`,
      `user ${documentedSentinelUser('watch').join(' ')}`,
      'user deaf on >deaf resetkeys resetchannels -@all +@connection +sentinel|get-master-addr-by-name +sentinel|sentinels',
      `sentinel monitor main 127.0.0.1 ${ports.one} 1`,
      'sentinel down-after-milliseconds main 1000',
      'sentinel failover-timeout main 10000',
    ],
    look: { port: ports.sentinel, password: '' },
  });
  await until('the replicas', async () =>
    /slave0:.*online.*slave1:.*online/s.test(await nodes.one.admin.info('replication')),
  );
  await until('the Sentinel knows them', async () => {
    const replicas = await sentinel.admin.call('SENTINEL', 'REPLICAS', 'main');
    return Array.isArray(replicas) && replicas.length === 2;
  });
});

afterAll(() => servers?.stop());

interface Pod extends ReplicatedStore {
  readonly logged: string[];
}

/** As one process of several opens it. */
async function openStore([user, password]: readonly [string, string]): Promise<Pod> {
  const source = {
    REDIS_URL: `redis://127.0.0.1:${ports.sentinel}`,
    REDIS_SENTINEL_MASTER: 'main',
    REDIS_SENTINEL_USERNAME: user,
    REDIS_SENTINEL_PASSWORD: password,
  };
  const logged: string[] = [];
  const store = connectRedis({
    place: redisPlace(readSettings(redisSettings, source), source),
    connectionName: 'test',
    commandTimeoutMs: 1_000,
    logger: createLogger('test', 'info', (line) =>
      logged.push((JSON.parse(line) as { message: string }).message),
    ),
  });
  onTestFinished(() => store.close());
  await new Promise<void>(store.onceReady);
  return { ...store, minReplicas: 1, logged };
}

const heard = ['watcher', 'watch'] as const;

function portOf(store: ReplicatedStore): number | undefined {
  const [redis] = store.masters();
  return redis?.status === 'ready' ? redis.stream.remotePort : undefined;
}

test('an idle process leaves a master that hangs, and knows what another wrote to the next when the first wakes up', async () => {
  const [busy, idle] = [await openStore(heard), await openStore(heard)];
  const client = await beginFamily(busy);
  expect(await refresh(busy, client)).toBe(true);
  expect(portOf(idle)).toBe(ports.one);
  nodes.one.kill('SIGSTOP');
  try {
    await until('a refresh elsewhere', async () => {
      await readRefreshFamily(busy, client.family);
      return portOf(busy) !== ports.one && refresh(busy, client);
    });
    await until('the idle one elsewhere', () => ![undefined, ports.one].includes(portOf(idle)), 4_000);
  } finally {
    nodes.one.kill('SIGCONT');
  }
  expect((await readRefreshFamily(idle, client.family))?.hash).toBe(client.current);
  expect([...busy.logged, ...idle.logged]).not.toContain('Sentinel cannot be followed');
  await until('the first is a replica', async () =>
    /role:slave/.test(await nodes.one.admin.info('replication')),
  );
});

test('a Sentinel that does not let its user hear of another master is told in the log', async () => {
  const deaf = await openStore(['deaf', 'deaf']);
  await until('the message', () => deaf.logged.includes('Sentinel cannot be followed'));
});
