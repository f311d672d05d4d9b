// What the migration job says of a Redis that cannot be used or is no database, of one with a replica, and of a Cluster by TLS.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLogger } from '@course-exchange/runtime/process/logger';
import { readSettings } from '@course-exchange/runtime/process/settings';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { createAuthority } from '../../../../test/rpc/certificate-authority.ts';
import {
  choosePorts,
  documentedClusterUser,
  documentedUser,
  durableAt,
  hasReplicas,
  openServers,
  openStore,
  until,
} from '../../../../test/stores/redis-servers.ts';
import { checkRedis } from './durability.ts';
import { redisSettings } from './settings.ts';

const servers = await openServers();
afterAll(servers.stop);
const ports = await choosePorts(['one', 'two', 'cluster', 'bus']);
const user = `user ${documentedUser('first').join(' ')}`;
const start = (name: 'one' | 'two', ...more: string[]) =>
  servers.start({
    name,
    lines: [...durableAt(ports[name]), user, 'requirepass admin', ...more],
    look: { port: ports[name], password: 'admin' },
  });
const { admin } = await start('one');
const url = `redis://identity:first@127.0.0.1:${ports.one}`;
const logger = createLogger('test', 'info', () => {});

/** Kind and sentence of each finding. */
async function find(changed: Readonly<Record<string, string>> = {}, production = true) {
  const config = readSettings(redisSettings, { REDIS_URL: url, ...changed });
  return (await checkRedis(config, production, logger)).map(({ kind, message }) => `${kind}: ${message}`);
}
/** Exactly one thing is wrong, and it is said so. */
async function says(sentence: string, ...asked: Parameters<typeof find>) {
  expect(await find(...asked)).toEqual([expect.stringContaining(sentence)]);
}

test('an account that Redis refuses, or gives too few rights', async () => {
  await admin.call('ACL', 'SETUSER', 'other', 'on', '>first', '+ping');
  const refused = says('(WRONGPASS)', { REDIS_URL: url.replace('first', 'wrong-91e2') });
  await says('(NOPERM)', { REDIS_URL: url.replace('identity', 'other') });
  await refused;
});

test.each([
  ['appendfsync', 'everysec', 'failure: Redis may lose or bring back tokens: appendfsync is everysec'],
  ['appendonly', 'no', 'failure: Redis may lose or bring back tokens: appendonly is no, expected yes.'],
  ['maxmemory-policy', 'allkeys-lru', 'failure: Redis may lose or bring back tokens: maxmemory-policy is'],
  ['maxmemory', '0', 'warning: Redis has no maxmemory: set it'],
])('%s %s', async (setting, value, inTest) => {
  const [, before = ''] = (await admin.config('GET', setting)) as string[];
  expect(await find()).toEqual([]);
  await admin.config('SET', setting, value);
  onTestFinished(async () => void (await admin.config('SET', setting, before)));
  await says(inTest.replace('warning', 'failure'));
  await says(inTest, {}, false);
});

test('another machine is reached in production by TLS alone', async () => {
  // Not written as a loopback address.
  const REDIS_URL = url.replace('127.0.0.1', '127.1');
  await says('failure: REDIS_URL has no TLS, which production requires', { REDIS_URL });
  expect(await find({ REDIS_URL }, false)).toEqual([]);
});

test('settings that Redis does not show are vouched for by a setting', async () => {
  await admin.call('ACL', 'SETUSER', 'unshown', ...documentedUser('first').slice(1), '-config');
  const REDIS_URL = url.replace('identity', 'unshown');
  await says('failure: Redis does not show its settings: set REDIS_SETTINGS_ATTESTED', { REDIS_URL });
  await says('warning: Redis does not show its settings', { REDIS_URL }, false);
  expect(await find({ REDIS_URL, REDIS_SETTINGS_ATTESTED: 'true' })).toEqual([]);
});

test('a master with a replica requires its confirmation, and refuses unconfirmed writes', async () => {
  await start('two', `replicaof 127.0.0.1 ${ports.one}`, 'masterauth admin');
  await until('the replica', () => hasReplicas(admin));
  const sentence =
    'Redis may accept a spent token again after a failover: set REDIS_MIN_REPLICAS to 1 or more (decision 0032), and';
  await says(`failure: ${sentence}`);
  await says(`warning: ${sentence}`, {}, false);
  const REDIS_MIN_REPLICAS = '1';
  expect(await find({ REDIS_MIN_REPLICAS })).toContainEqual(expect.stringContaining(`failure: ${sentence}`));
  await admin.config('SET', 'min-replicas-to-write', '2');
  await says('warning: Redis counts a replica that hangs for longer than 3 s', { REDIS_MIN_REPLICAS });
  await admin.config('SET', 'min-replicas-max-lag', '0');
  await says('warning: Redis counts a replica that hangs for longer than 3 s', { REDIS_MIN_REPLICAS });
  await admin.config('SET', 'min-replicas-max-lag', '3');
  expect(await find({ REDIS_MIN_REPLICAS })).toEqual([]);
  await says('failure: REDIS_URL reaches no master with 2 replicas', { REDIS_MIN_REPLICAS: '2' });
  const REDIS_URL = url.replace(`${ports.one}`, `${ports.two}`);
  await says('failure: REDIS_URL reaches no master with 0 replicas', { REDIS_URL });
});

test('a Cluster whose certificates hold names alone is reached, and a replaced authority is followed', async () => {
  const file = (name: string, text = '') => {
    if (text) writeFileSync(join(servers.directory, name), text);
    return join(servers.directory, name);
  };
  const show = async (version: string) => {
    const authority = await createAuthority(version);
    const { certificate, key } = await authority.issue(['localhost']);
    file('trusted', authority.certificate);
    return [
      'tls-cert-file',
      file(`${version}.crt`, certificate),
      'tls-key-file',
      file(`${version}.key`, key),
    ];
  };
  const [, certificate, , key] = await show('first');
  const node = await servers.start({
    name: 'node',
    lines: [
      ...durableAt(0),
      `tls-port ${ports.cluster}`,
      `tls-cert-file ${certificate}`,
      `tls-key-file ${key}`,
      `tls-ca-cert-file ${file('first.crt')}`,
      'tls-auth-clients no',
      'tls-cluster yes',
      'cluster-enabled yes',
      `cluster-port ${ports.bus}`,
      'cluster-announce-hostname localhost',
      'cluster-preferred-endpoint-type hostname',
      `user ${documentedClusterUser('first').join(' ')}`,
    ],
    look: { port: ports.cluster, password: '', tls: { rejectUnauthorized: false } },
  });
  await node.admin.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
  await until('the cluster', async () => /state:ok/.test(String(await node.admin.call('CLUSTER', 'INFO'))));
  const REDIS_URL = `rediss://identity:first@localhost:${ports.cluster}`;
  const source = { REDIS_URL, REDIS_TLS_CA_FILE: file('trusted'), REDIS_CLUSTER: 'true' };
  expect(await find(source)).toEqual([]);
  const REDIS_TLS_CA = (await createAuthority('Stranger')).certificate;
  await says('(UNABLE_TO_VERIFY_LEAF_SIGNATURE)', { REDIS_URL, REDIS_TLS_CA });

  const store = await openStore(source, undefined, 20_000);
  onTestFinished(store.close);
  const read = () => store.run('read', 'rt:{a}', (redis) => redis.exists('rt:{a}'));
  expect(await read()).toBe(0);
  await node.admin.config('SET', ...((await show('second')) as [string, string]));
  const [redis] = store.masters();
  redis?.stream.destroy();
  await until('a read under the new authority', async () => redis?.status === 'end' && (await read()) === 0);
});
