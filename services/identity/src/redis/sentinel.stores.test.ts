// Redis behind a Sentinel, over TLS, with ACL users that may do no more than docs/settings.md says: the master is killed
// under a load of refreshes, hangs before a busy process and an idle one, and the password changes.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { createAuthority } from '../../../../test/rpc/certificate-authority.ts';
import {
  choosePorts,
  documentedSentinelUser,
  documentedUser,
  durableAt,
  hasReplicas,
  openServers,
  openStore,
  until,
} from '../../../../test/stores/redis-servers.ts';
import {
  beginFamily,
  type ClientFamily,
  findFamily,
  judge,
  refresh,
  startRefreshLoad,
} from '../../../../test/stores/refresh-load.ts';
import type { RedisStore } from './connect.ts';
import { readSettingsWarning } from './durability.ts';

/** A machine may stall for this long without a failover that no test causes. */
const quietMs = 60_000;
const failoverMs = 5_000;
const names = ['one', 'two', 'three'] as const;
type Name = (typeof names)[number];

const servers = await openServers();
afterAll(servers.stop);
const ports = await choosePorts([...names, 'sentinel']);
const authority = await createAuthority();
const issued = await authority.issue(['127.0.0.1']);
function file(name: string, text: string): string {
  writeFileSync(join(servers.directory, name), text);
  return join(servers.directory, name);
}
const tls = [
  `tls-cert-file ${file('tls.crt', issued.certificate)}`,
  `tls-key-file ${file('tls.key', issued.key)}`,
  `tls-ca-cert-file ${file('ca.crt', authority.certificate)}`,
  'tls-auth-clients no',
  'tls-replication yes',
];
const look = { tls: { ca: authority.certificate }, password: 'admin' };

const startNode = (name: Name, ...more: readonly string[]) =>
  servers.start({
    name,
    lines: [
      ...durableAt(0),
      ...tls,
      ...more,
      `tls-port ${ports[name]}`,
      'requirepass admin',
      'masterauth admin',
      'min-replicas-to-write 1',
      `user ${documentedUser('first').join(' ')}`,
    ],
    look: { ...look, port: ports[name] },
  });
const replica = `replicaof 127.0.0.1 ${ports.one}`;
const nodes = {
  one: await startNode('one'),
  two: await startNode('two', replica),
  three: await startNode('three', replica),
};
await until('the replicas', () => hasReplicas(nodes.one.admin, 2));
const sentinel = await servers.start({
  name: 'sentinel',
  sentinel: true,
  lines: [
    'port 0',
    ...tls,
    `tls-port ${ports.sentinel}`,
    'requirepass admin',
    `user ${documentedSentinelUser('watch').join(' ')}`,
    'user deaf on >deaf resetkeys resetchannels -@all +@connection +sentinel|get-master-addr-by-name +sentinel|sentinels',
    `sentinel monitor main 127.0.0.1 ${ports.one} 1`,
    'sentinel auth-pass main admin',
    `sentinel down-after-milliseconds main ${quietMs}`,
    'sentinel failover-timeout main 2000',
  ],
  look: { ...look, port: ports.sentinel },
});
await until('the Sentinel knows them', async () => {
  const replicas = await sentinel.admin.call('SENTINEL', 'REPLICAS', 'main');
  return Array.isArray(replicas) && replicas.length === 2;
});

const passwordFile = file('password', 'first\n');
const logged: string[] = [];
const source = {
  REDIS_URL: `rediss://127.0.0.1:${ports.sentinel}`,
  REDIS_SENTINEL_MASTER: 'main',
  REDIS_SENTINEL_USERNAME: 'watcher',
  REDIS_SENTINEL_PASSWORD: 'watch',
  REDIS_USERNAME: 'identity',
  REDIS_PASSWORD_FILE: passwordFile,
  REDIS_TLS_CA: authority.certificate,
};
const messagesInto = (list: string[]) => (line: string) =>
  list.push((JSON.parse(line) as { message: string }).message);
const store = await openStore(source, messagesInto(logged));
afterAll(store.close);

/** Another master may be promoted until this test has ended. */
async function letFailOver(): Promise<void> {
  const after = (ms: number) => sentinel.admin.call('SENTINEL', 'SET', 'main', 'down-after-milliseconds', ms);
  onTestFinished(async () => void (await after(quietMs)));
  await after(failoverMs);
}

/** The node that the Sentinel names: a busy machine may see more failovers than a test brings about. */
async function master(): Promise<Name> {
  const address = await sentinel.admin.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'main');
  const port = Array.isArray(address) ? Number(address[1]) : 0;
  return names.find((name) => ports[name] === port) ?? 'one';
}

/** The port of a process's connection, once it is open. */
function portOf(connected: RedisStore): number | undefined {
  const [redis] = connected.masters();
  return redis?.status === 'ready' ? redis.stream.remotePort : undefined;
}

test('writers at the same time share one confirmation by the replica', async () => {
  const confirmations = async () =>
    Number(/cmdstat_wait:calls=(\d+)/.exec(await nodes[await master()].admin.info('commandstats'))?.[1]);
  // The replicas of a busy machine may be late once.
  await until('fifty refreshes', async () => {
    const families = await Promise.all(Array.from({ length: 50 }, () => beginFamily(store)));
    const before = await confirmations();
    const refreshed = await Promise.all(families.map((family) => refresh(store, family)));
    const confirmed = (await confirmations()) - before;
    return !refreshed.includes(false) && confirmed < 10;
  });
});

test('the ACL user of the documents does all that identity does, and no more', async () => {
  await until('a refresh', async () => refresh(store, await beginFamily(store)));
  expect(await readSettingsWarning(store)).toBeUndefined();
  const [redis] = store.masters();
  await expect(redis?.set('else', '1')).rejects.toThrow('NOPERM');
  await expect(redis?.flushall()).rejects.toThrow('NOPERM');
  await expect(redis?.config('SET', 'appendfsync', 'no')).rejects.toThrow('NOPERM');
  await expect(redis?.keys('*')).rejects.toThrow('NOPERM');
});

test('the master is killed under a load: no token is accepted twice, no acknowledged one is lost', async () => {
  const load = startRefreshLoad(store, 8, 20);
  await until('refreshes', () => load.counts.refreshed > 100);
  const killed = await master();
  const led: (number | undefined)[] = [];
  const [redis] = store.masters();
  redis?.on('ready', () => led.push(redis.stream.remotePort));
  await letFailOver();
  nodes[killed].kill('SIGKILL');
  await until('another master', async () => (await master()) !== killed);
  await until('its announcement', async () => {
    const fields = await sentinel.admin.call('SENTINEL', 'MASTER', 'main');
    return Array.isArray(fields) && !fields.includes(String(ports[killed]));
  });
  await nodes[killed].restart([`replicaof 127.0.0.1 ${ports[await master()]}`]);
  const { refreshed } = load.counts;
  await until('refreshes without a restart', () => load.counts.refreshed > refreshed + 100);
  // One refusal of the replicas is that of all clients.
  await until('a token to judge', () => load.families.some(({ unknown }) => !unknown));
  await load.stop();
  const verdict = await judge(store, load.families);
  expect(verdict).toMatchObject({ acceptedTwice: 0, lost: 0 });
  expect(verdict.current).toBeGreaterThan(0);
  expect(load.counts.unavailable).toBeGreaterThan(0);
  // A Sentinel of a busy machine may be late.
  const heard = () => logged.filter((message) => message.startsWith('Redis connection'));
  await until('the connection that is restored', () => heard().length > 0 && heard().length % 2 === 0);
  // A connection to the promoted one is not left when the Sentinel names it.
  expect(led.filter((port, nth) => port === undefined || port === led[nth - 1])).toEqual([]);
  const turns = heard().map((_, turn) => `Redis connection ${turn % 2 === 0 ? 'failed' : 'restored'}`);
  expect(heard()).toEqual(turns);
});

test('a master that hangs is left for the one that the Sentinel promotes, by an idle process too', async () => {
  const heard: string[] = [];
  // Its commands wait for longer than the machine may stall: only the Sentinel makes it leave.
  const idle = await openStore(source, messagesInto(heard), 2 * quietMs);
  onTestFinished(idle.close);
  let written: ClientFamily | undefined;
  const write = async () => {
    const client = await beginFamily(store);
    if (await refresh(store, client)) written = client;
    return written === client;
  };
  await until('a refresh', write);
  const before = written as ClientFamily | undefined;
  const hung = await master();
  await until('both at the master', () => [store, idle].every((one) => portOf(one) === ports[hung]));
  await letFailOver();
  const begun = performance.now();
  nodes[hung].kill('SIGSTOP');
  try {
    await until('a refresh elsewhere', async () => portOf(store) !== ports[hung] && (await write()));
    await until('the idle one elsewhere', () => ![undefined, ports[hung]].includes(portOf(idle)));
  } finally {
    nodes[hung].kill('SIGCONT');
  }
  expect(performance.now() - begun).toBeGreaterThan(failoverMs);
  const last = written as ClientFamily;
  const found: unknown[] = [];
  // Its connection may be left while the question is on its way.
  await until('an answer', async () => found.push((await findFamily(idle, last.familyId))?.hash) > 0);
  expect(found).toEqual([last.current]);
  expect(heard).not.toContain('Sentinel cannot be followed');
  await until('the one that hung is a replica', async () =>
    /role:slave/.test(await nodes[hung].admin.info('replication')),
  );
  await until('a refresh', write);
  expect(await judge(store, before ? [before] : [])).toMatchObject({ lost: 0, current: 1 });
});

test('a Sentinel that hides another master from its user is logged', async () => {
  const heard: string[] = [];
  const deaf = { ...source, REDIS_SENTINEL_USERNAME: 'deaf', REDIS_SENTINEL_PASSWORD: 'deaf' };
  onTestFinished((await openStore(deaf, messagesInto(heard))).close);
  await until('the message', () => heard.includes('Sentinel cannot be followed'));
});

test('a password that changes in its file is followed without a restart', async () => {
  const [name = '', ...rules] = documentedUser('second');
  const admins = Object.values(nodes).map(({ admin }) => admin);
  for (const admin of admins) await admin.call('ACL', 'SETUSER', name, 'resetpass', ...rules);
  writeFileSync(passwordFile, 'second\n');
  for (const admin of admins) await admin.call('CLIENT', 'KILL', 'USER', name);
  await until('a refresh', async () => refresh(store, await beginFamily(store)));
});
