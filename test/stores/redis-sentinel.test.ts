// Redis behind a Sentinel, over TLS, with an ACL user that may do no more than docs/settings.md says: the master is
// killed under a load of refreshes, and the password changes.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { choosePorts } from '@course-exchange/local-stack/free-ports';
import { readSettings } from '@course-exchange/runtime/env';
import { createLogger } from '@course-exchange/runtime/logger';
import { connectRedis } from '@course-exchange/runtime/redis';
import { redisPlace, redisSettings } from '@course-exchange/runtime/redis-settings';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readSettingsWarning } from '../../services/identity/src/store/redis/redis-settings.ts';
import { readRefreshFamily } from '../../services/identity/src/store/redis/refresh-families.ts';
import type { ReplicatedStore } from '../../services/identity/src/store/redis/replication.ts';
import { createAuthority } from '../rpc/certificate-authority.ts';
import { documentedUser } from './documented-user.ts';
import { durable, openServers, type TestServer, type TestServers, until } from './redis-servers.ts';
import { beginFamily, judge, refresh, startRefreshLoad } from './refresh-load.ts';

let servers: TestServers;
let nodes: Record<'one' | 'two', TestServer>;
let sentinel: TestServer;
let ports: Record<'one' | 'two' | 'sentinel', number>;
let store: ReplicatedStore;
let passwordFile: string;
const logged: string[] = [];

beforeAll(async () => {
  servers = await openServers();
  ports = await choosePorts(['one', 'two', 'sentinel']);
  passwordFile = join(servers.directory, 'password');
  const authority = await createAuthority();
  const { certificate, key } = await authority.issue(['127.0.0.1']);
  const file = (name: string, text: string) => {
    writeFileSync(join(servers.directory, name), text);
    return join(servers.directory, name);
  };
  const tls = [
    'port 0',
    `tls-cert-file ${file('tls.crt', certificate)}`,
    `tls-key-file ${file('tls.key', key)}`,
    `tls-ca-cert-file ${file('ca.crt', authority.certificate)}`,
    'tls-auth-clients no',
    'tls-replication yes',
  ];
  const look = { tls: { ca: authority.certificate }, password: 'admin' };
  const start = (name: 'one' | 'two', replicaOf: readonly string[]) =>
    servers.start({
      name,
      lines: [
        ...tls,
        ...durable,
        ...replicaOf,
        `tls-port ${ports[name]}`,
        'requirepass admin',
        'masterauth admin',
        'repl-diskless-sync-delay 0',
        'min-replicas-to-write 1',
        `user ${documentedUser('first').join(' ')}`,
      ],
      look: { ...look, port: ports[name] },
    });
  const one = await start('one', []);
  nodes = { one, two: await start('two', [`replicaof 127.0.0.1 ${ports.one}`]) };
  sentinel = await servers.start({
    name: 'sentinel',
    sentinel: true,
    lines: [
      ...tls,
      `tls-port ${ports.sentinel}`,
      'requirepass watch',
      `sentinel monitor main 127.0.0.1 ${ports.one} 1`,
      'sentinel auth-pass main admin',
      'sentinel down-after-milliseconds main 1000',
      'sentinel failover-timeout main 2000',
    ],
    look: { ...look, password: 'watch', port: ports.sentinel },
  });
  writeFileSync(passwordFile, 'first\n');
  const source = {
    REDIS_URL: `rediss://127.0.0.1:${ports.sentinel}`,
    REDIS_SENTINEL_MASTER: 'main',
    REDIS_SENTINEL_PASSWORD: 'watch',
    REDIS_USERNAME: 'identity',
    REDIS_PASSWORD_FILE: passwordFile,
    REDIS_TLS_CA: authority.certificate,
  };
  const connected = connectRedis({
    place: redisPlace(readSettings(redisSettings, source), source),
    connectionName: 'test',
    commandTimeoutMs: 1_000,
    logger: createLogger('test', 'info', (line) => logged.push(line)),
  });
  store = { ...connected, minReplicas: 1 };
  await new Promise<void>(store.onceReady);
  await until('a replica', async () => /slave0:.*state=online/.test(await one.admin.info('replication')));
  await until('the Sentinel knows it', async () => {
    const replicas = await sentinel.admin.call('SENTINEL', 'REPLICAS', 'main');
    return Array.isArray(replicas) && replicas.length === 1;
  });
});

afterAll(async () => {
  await store?.close();
  await servers?.stop();
});

test('the ACL user of the documents does all that identity does, and no more', async () => {
  const client = await beginFamily(store);
  expect(await refresh(store, client)).toBe(true);
  expect(await readSettingsWarning(store)).toBeUndefined();
  const [master] = store.masters();
  await expect(master?.set('else', '1')).rejects.toThrow('NOPERM');
  await expect(master?.flushall()).rejects.toThrow('NOPERM');
  await expect(master?.config('SET', 'appendfsync', 'no')).rejects.toThrow('NOPERM');
  await expect(master?.keys('*')).rejects.toThrow('NOPERM');
});

test('every setting that may bring tokens back is named in one sentence', async () => {
  await nodes.one.admin.config('SET', 'appendfsync', 'everysec');
  await nodes.one.admin.config('SET', 'min-replicas-to-write', '0');
  expect(await readSettingsWarning(store)).toBe(
    'Redis may lose or bring back tokens: appendfsync is everysec, expected always; min-replicas-to-write is 0, expected 1',
  );
  await nodes.one.admin.config('SET', 'appendfsync', 'always');
  await nodes.one.admin.config('SET', 'min-replicas-to-write', '1');
});

test('the master is killed under a load: no token is accepted twice, no acknowledged one is lost', async () => {
  const load = startRefreshLoad(store, 8, 20);
  await until('refreshes', () => load.counts.refreshed > 100);
  nodes.one.kill('SIGKILL');
  await until('another master', async () => /role:master/.test(await nodes.two.admin.info('replication')));
  await nodes.one.restart([`replicaof 127.0.0.1 ${ports.two}`]);
  const { refreshed } = load.counts;
  await until('refreshes without a restart', () => load.counts.refreshed > refreshed + 100);
  await load.stop();
  const verdict = await judge(store, load.families);
  console.log(JSON.stringify({ ...load.counts, ...verdict }));
  expect(verdict).toMatchObject({ acceptedTwice: 0, lost: 0 });
  expect(verdict.current).toBeGreaterThan(0);
  expect(load.counts.unavailable).toBeGreaterThan(0);
  const messages = logged.map((line) => (JSON.parse(line) as { message: string }).message);
  expect(messages.length).toBeGreaterThan(0);
  // A busy machine may see more than one failover.
  const turns = messages.map((_, turn) => `Redis connection ${turn % 2 === 0 ? 'failed' : 'restored'}`);
  expect(messages).toEqual(turns);
  expect(messages.length % 2).toBe(0);
});

/** The port of the node that identity's connection leads to. */
function masterPort(): number | undefined {
  return store.masters()[0]?.stream.remotePort;
}

test('a master that hangs is left for the one that the Sentinel promotes, while its connection still stands', async () => {
  const client = await beginFamily(store);
  const [hung, other] = masterPort() === ports.one ? (['one', 'two'] as const) : (['two', 'one'] as const);
  const begun = performance.now();
  nodes[hung].kill('SIGSTOP');
  try {
    await until('a read from the other', async () => {
      await readRefreshFamily(store, client.family);
      return masterPort() === ports[other];
    });
  } finally {
    nodes[hung].kill('SIGCONT');
  }
  expect(performance.now() - begun).toBeGreaterThan(1_000);
  expect(await nodes[other].admin.info('replication')).toContain('role:master');
  await nodes[hung].admin.call('REPLICAOF', '127.0.0.1', ports[other]);
  await until('a refresh', async () => refresh(store, await beginFamily(store)));
  expect(await judge(store, [client])).toMatchObject({ lost: 0, current: 1 });
});

test('a password that changes in its file is followed without a restart', async () => {
  const [name = '', ...rules] = documentedUser('second');
  for (const { admin } of Object.values(nodes))
    await admin.call('ACL', 'SETUSER', name, 'resetpass', ...rules);
  writeFileSync(passwordFile, 'second\n');
  for (const { admin } of Object.values(nodes)) await admin.call('CLIENT', 'KILL', 'USER', name);
  await until('a refresh', async () => refresh(store, await beginFamily(store)));
});
