// What the migration job says of a Redis that cannot be used or is no database, of one with a replica, and of a Cluster by TLS.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { choosePorts } from '@course-exchange/local-stack/free-ports';
import { readSettings } from '@course-exchange/runtime/process/settings';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { checkRedis } from '../../services/identity/src/redis/checks.ts';
import { redisSettings } from '../../services/identity/src/redis/settings.ts';
import { createAuthority } from '../rpc/certificate-authority.ts';
import {
  documentedClusterUser,
  documentedUser,
  durableAt,
  hasReplicas,
  openServers,
  openStore,
  until,
} from './redis-servers.ts';

const servers = await openServers();
afterAll(servers.stop);
const ports = await choosePorts(['one', 'two', 'cluster', 'bus']);
const start = (name: 'one' | 'two', ...more: string[]) =>
  servers.start({
    name,
    lines: [
      ...durableAt(ports[name]),
      `user ${documentedUser('first').join(' ')}`,
      'requirepass admin',
      ...more,
    ],
    look: { port: ports[name], password: 'admin' },
  });
const { admin } = await start('one');
const url = `redis://identity:first@127.0.0.1:${ports.one}`;

/** Kind and sentence of each finding. */
async function find(changed: Readonly<Record<string, string>> = {}, production = true) {
  const found = await checkRedis(readSettings(redisSettings, { REDIS_URL: url, ...changed }), production);
  return found.map(({ kind, message }) => `${kind}: ${message}`);
}
/** Exactly one thing is wrong, and it is said so. */
async function says(sentence: string, ...asked: Parameters<typeof find>) {
  expect(await find(...asked)).toEqual([expect.stringContaining(sentence)]);
}

test.each([
  ['identity:wrong-91e2@', 'refuses user or password: correct REDIS_USERNAME and REDIS_PASSWORD.'],
  ['', 'refuses user or password: correct REDIS_USERNAME and REDIS_PASSWORD.'],
  ['other:first@', 'does not permit its user what identity needs: give it the ACL of docs/settings.md.'],
])('an account at redis://%s', async (account, sentence) => {
  await admin.call('ACL', 'SETUSER', 'other', 'on', '>first', '+ping');
  const server = `127.0.0.1:${ports.one}`;
  await says(`failure: Redis at ${server} ${sentence}`, { REDIS_URL: `redis://${account}${server}` });
});

test('an unknown name', async () => {
  await says('DNS does not know the host of Redis at redis.invalid', { REDIS_URL: 'redis://redis.invalid' });
});

test.each([
  ['appendfsync', 'everysec', 'failure', 'may lose or bring back tokens: set appendfsync always.'],
  ['appendonly', 'no', 'failure', 'may lose or bring back tokens: set appendonly yes.'],
  ['maxmemory-policy', 'allkeys-lru', 'failure', 'or bring back tokens: set maxmemory-policy noeviction.'],
  ['maxmemory', '0', 'warning', 'has no maxmemory: set it as docs/install.md says, so that a full Redis'],
])('%s %s', async (setting, value, inTest, sentence) => {
  const [, before = ''] = (await admin.config('GET', setting)) as string[];
  expect(await find()).toEqual([]);
  await admin.config('SET', setting, value);
  onTestFinished(async () => void (await admin.config('SET', setting, before)));
  expect(await find()).toEqual([expect.stringMatching(/^failure: Redis at/)]);
  await says(sentence);
  await says(`${inTest}: Redis at`, {}, false);
});

test('settings that Redis does not show are vouched for by a setting', async () => {
  await admin.call('ACL', 'SETUSER', 'unshown', ...documentedUser('first').slice(1), '-config');
  const REDIS_URL = url.replace('identity', 'unshown');
  await says('min-replicas-to-write 0 and a maxmemory, then set REDIS_SETTINGS_ATTESTED.', { REDIS_URL });
  await says(`warning: Redis at 127.0.0.1:${ports.one} does not show its settings`, { REDIS_URL }, false);
  expect(await find({ REDIS_URL, REDIS_SETTINGS_ATTESTED: 'true' })).toEqual([]);
});

test('a master with a replica wants its confirmation, and refuses writes that nobody confirms', async () => {
  await start('two', `replicaof 127.0.0.1 ${ports.one}`, 'masterauth admin');
  await until('the replica', () => hasReplicas(admin));
  await says('failure: Redis at');
  await says('warning: Redis at', {}, false);
  await says('may fail over to a replica that lacks a write, and accept a spent token again: set REDIS_MIN_');
  const REDIS_MIN_REPLICAS = '1';
  await says('executes writes that no token may follow: set min-replicas-to-write to 1', {
    REDIS_MIN_REPLICAS,
  });
  await admin.config('SET', 'min-replicas-to-write', '2');
  expect(await find({ REDIS_MIN_REPLICAS })).toEqual([]);
  await says('has 1 replicas and REDIS_MIN_REPLICAS is 2: connect more', { REDIS_MIN_REPLICAS: '2' });
  const REDIS_URL = url.replace(`${ports.one}`, `${ports.two}`);
  await says('is a replica: name the master in REDIS_URL.', { REDIS_URL });
});

test('a Cluster whose certificates hold names alone is reached, and a replaced authority is followed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'course-exchange-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const show = async (version: string) => {
    const authority = await createAuthority(version);
    const { certificate, key } = await authority.issue(['localhost']);
    for (const [name, text] of Object.entries({ crt: certificate, key, ca: authority.certificate }))
      writeFileSync(join(folder, `${version}.${name}`), text);
    writeFileSync(join(folder, 'trusted'), authority.certificate);
    return authority.certificate;
  };
  const ca = await show('first');
  const tls = [
    'cert-file first.crt',
    'key-file first.key',
    'ca-cert-file first.ca',
    'auth-clients no',
    'cluster yes',
  ];
  const node = await servers.start({
    name: 'node',
    lines: [
      ...durableAt(0),
      `tls-port ${ports.cluster}`,
      ...tls.map((line) => `tls-${line.replace('first', `${folder}/first`)}`),
      'cluster-enabled yes',
      `cluster-port ${ports.bus}`,
      'cluster-announce-hostname localhost',
      'cluster-preferred-endpoint-type hostname',
      `user ${documentedClusterUser('first').join(' ')}`,
    ],
    look: { port: ports.cluster, password: '', tls: { ca, servername: 'localhost' } },
  });
  await node.admin.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
  await until('the cluster', async () => /state:ok/.test(String(await node.admin.call('CLUSTER', 'INFO'))));
  const address = `rediss://identity:first@localhost:${ports.cluster}`;
  const source = { REDIS_URL: address, REDIS_TLS_CA_FILE: join(folder, 'trusted'), REDIS_CLUSTER: 'true' };
  expect(await find(source)).toEqual([]);
  const REDIS_TLS_CA = (await createAuthority('Stranger')).certificate;
  await says('does not verify (SELF_SIGNED_CERT_IN_CHAIN)', { REDIS_URL: address, REDIS_TLS_CA });
  await says('correct host, port and TLS in', { REDIS_URL: address.replace('rediss', 'redis') });

  const store = await openStore(source);
  onTestFinished(store.close);
  const read = () => store.run('read', 'rt:{a}', (redis) => redis.exists('rt:{a}'));
  expect(await read()).toBe(0);
  await show('second');
  await node.admin.config(
    'SET',
    'tls-cert-file',
    `${folder}/second.crt`,
    'tls-key-file',
    `${folder}/second.key`,
  );
  const [redis] = store.masters();
  redis?.stream.destroy();
  await until('a read under the new authority', async () => redis?.status === 'end' && (await read()) === 0);
});
