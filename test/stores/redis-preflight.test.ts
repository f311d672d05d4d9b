// What the migration job says of a Redis: one that cannot be used, one with replicas, and a Cluster that announces names.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { choosePorts } from '@course-exchange/local-stack/free-ports';
import { Redis } from 'ioredis';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { checkRedis } from '../../services/identity/src/redis/checks.ts';
import { createAuthority } from '../rpc/certificate-authority.ts';
import {
  documentedClusterUser,
  documentedUser,
  durableAt,
  hasReplicas,
  openServers,
  openStore,
  targetOf,
  until,
} from './redis-servers.ts';

const servers = await openServers();
afterAll(servers.stop);

const administrators = process.env.TEST_REDIS_URL ?? '';
const own = Object.assign(new URL(administrators), { username: 'identity' }).href;
const altered = (change: Partial<URL>) => Object.assign(new URL(administrators), change).href;
const check = (url: string, minReplicas = 0, production = true, attested = false) =>
  checkRedis({ target: targetOf({ REDIS_URL: url }), minReplicas, production, attested });
const failure = (sentence: RegExp) => ({ kind: 'failure', message: expect.stringMatching(sentence) });

const cases: readonly [string, string, RegExp][] = [
  [
    'a wrong password',
    altered({ password: 'wrong-91e2' }),
    /^Redis at \S+ refuses user or password: correct REDIS_USERNAME and REDIS_PASSWORD\.$/,
  ],
  ['no password', altered({ password: '' }), /^Redis at \S+ asks for a password: set REDIS_PASSWORD\.$/],
  [
    'TLS where there is none',
    own.replace('redis:', 'rediss:'),
    /does not answer by TLS: .* write redis:\/\/ if it has no TLS/,
  ],
  [
    'a name that DNS does not know',
    'redis://redis.invalid',
    /^The name redis\.invalid of REDIS_URL is not known to DNS: correct the host\.$/,
  ],
];
test.each(cases)('%s', async (_name, url, sentence) => {
  expect(await check(url)).toEqual([failure(sentence)]);
});

test('settings that lose tokens, and too few replicas', async () => {
  const redis = new Redis(administrators);
  const [, before = 'always'] = (await redis.config('GET', 'appendfsync')) as string[];
  try {
    await redis.config('SET', 'appendfsync', 'everysec');
    expect(await check(own)).toEqual([
      failure(/^Redis at \S+ may lose or bring back tokens: set appendfsync always\.$/),
    ]);
  } finally {
    await redis.config('SET', 'appendfsync', before);
    redis.disconnect();
  }
  expect(await check(own, 1)).toContainEqual(
    failure(/has 0 replicas and REDIS_MIN_REPLICAS is 1: connect more, or no token will leave\.$/),
  );
});

test('a user that may do more than identity needs is told of, and nothing of it is tried', async () => {
  const redis = new Redis(administrators);
  onTestFinished(() => redis.disconnect());
  await redis.set('health:{0}', 1, 'EX', 10);
  const before = await redis.acl('LIST');
  const more = (words: string) => [
    {
      kind: 'warning',
      message: expect.stringMatching(
        new RegExp(
          `^Redis at \\S+ permits its user more than identity needs \\(${words}\\): give identity the ACL user`,
        ),
      ),
    },
  ];
  expect(await check(own)).toEqual([]);
  expect(await check(administrators)).toEqual(
    more('CONFIG SET, KEYS, FLUSHALL, FLUSHDB, ACL SETUSER, SHUTDOWN, keys of others'),
  );
  expect(await redis.exists('health:{0}')).toBe(1);
  expect(await redis.config('GET', 'appendfsync')).toEqual(['appendfsync', 'always']);
  expect(await redis.acl('LIST')).toEqual(before);

  const user = async (name: string, ...changes: string[]) => {
    await redis.call('ACL', 'SETUSER', name, ...documentedUser('first').slice(1), ...changes);
    onTestFinished(async () => void (await redis.call('ACL', 'DELUSER', name)));
    return check(altered({ username: name, password: 'first' }));
  };
  expect(await user('flushes', '+flushdb')).toEqual(more('FLUSHDB'));
  expect(await user('sees', '~*')).toEqual(more('keys of others'));
  expect(await user('mute', '-eval')).toEqual([
    { kind: 'warning', message: expect.stringMatching(/^Redis at \S+ does not say what its user may do: /) },
  ]);
});

test('a master with a replica wants its confirmation, and refuses writes that nobody confirms', async () => {
  const ports = await choosePorts(['one', 'two']);
  const start = (name: 'one' | 'two', more: readonly string[]) =>
    servers.start({
      name,
      lines: [...durableAt(ports[name]), `user ${documentedUser('first').join(' ')}`, ...more],
      look: { port: ports[name], password: '' },
    });
  const { admin } = await start('one', []);
  const url = `redis://identity:first@127.0.0.1:${ports.one}`;
  expect(await check(url)).toEqual([]);
  await start('two', [`replicaof 127.0.0.1 ${ports.one}`]);
  await until('the replica', () => hasReplicas(admin));

  const message = expect.stringMatching(/^Redis may fail over .*: set REDIS_MIN_REPLICAS to 1\.$/);
  expect(await check(url)).toEqual([{ kind: 'failure', message }]);
  expect(await check(url, 0, false)).toEqual([{ kind: 'warning', message }]);
  const executes = expect.stringMatching(/: set min-replicas-to-write to 1, as REDIS_MIN_REPLICAS\.$/);
  expect(await check(url, 1)).toEqual([{ kind: 'failure', message: executes }]);
  expect(await check(url, 1, false)).toEqual([{ kind: 'warning', message: executes }]);
  await admin.config('SET', 'min-replicas-to-write', '1');
  expect(await check(url, 1)).toEqual([]);
});

test('settings that Redis does not show are vouched for by a setting, in production', async () => {
  const redis = new Redis(administrators);
  onTestFinished(() => redis.disconnect());
  await redis.call('ACL', 'SETUSER', 'unshown', ...documentedUser('first').slice(1), '-config');
  onTestFinished(async () => void (await redis.call('ACL', 'DELUSER', 'unshown')));
  const url = altered({ username: 'unshown', password: 'first' });
  const message = expect.stringMatching(
    /does not say its settings: make sure of .*appendfsync always, min-replicas-to-write 0, then set REDIS_SETTINGS_ATTESTED\.$/,
  );
  expect(await check(url)).toEqual([{ kind: 'failure', message }]);
  expect(await check(url, 0, false)).toEqual([{ kind: 'warning', message }]);
  expect(await check(url, 0, true, true)).toEqual([]);
});

test('a Cluster whose certificates hold names alone is reached, and a replaced authority is followed', async () => {
  const ports = await choosePorts(['own', 'bus']);
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
  const { admin } = await servers.start({
    name: 'node',
    lines: [
      ...durableAt(0),
      `tls-port ${ports.own}`,
      `tls-cert-file ${folder}/first.crt`,
      `tls-key-file ${folder}/first.key`,
      `tls-ca-cert-file ${folder}/first.ca`,
      'tls-auth-clients no',
      'tls-cluster yes',
      'cluster-enabled yes',
      `cluster-port ${ports.bus}`,
      'cluster-announce-hostname localhost',
      'cluster-preferred-endpoint-type hostname',
      `user ${documentedClusterUser('first').join(' ')}`,
    ],
    look: { port: ports.own, password: '', tls: { ca, servername: 'localhost' } },
  });
  await admin.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
  await until('the cluster', async () => /state:ok/.test(String(await admin.call('CLUSTER', 'INFO'))));
  const source = {
    REDIS_URL: `rediss://identity:first@localhost:${ports.own}`,
    REDIS_TLS_CA_FILE: join(folder, 'trusted'),
    REDIS_CLUSTER: 'true',
  };
  expect(
    await checkRedis({ target: targetOf(source), minReplicas: 0, production: false, attested: false }),
  ).toEqual([expect.objectContaining({ kind: 'warning' })]);

  const store = await openStore(source);
  onTestFinished(store.close);
  const read = () => store.run('read', 'rt:{a}', (redis) => redis.exists('rt:{a}'));
  expect(await read()).toBe(0);
  await show('second');
  await admin.config('SET', 'tls-cert-file', `${folder}/second.crt`, 'tls-key-file', `${folder}/second.key`);
  const [redis] = store.masters();
  redis?.stream.destroy();
  await until('a read under the new authority', async () => redis?.status === 'end' && (await read()) === 0);
});
