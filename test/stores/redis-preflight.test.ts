// What the migration job says of a Redis that has replicas, and whether its check reaches a Cluster that announces names.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { choosePorts } from '@course-exchange/local-stack/free-ports';
import { readSettings } from '@course-exchange/runtime/env';
import { createLogger } from '@course-exchange/runtime/logger';
import { connectRedis } from '@course-exchange/runtime/redis';
import { redisAt, redisPlace, redisSettings } from '@course-exchange/runtime/redis-settings';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { checkRedis } from '../../services/identity/src/preflight/redis.ts';
import { createAuthority } from '../rpc/certificate-authority.ts';
import { durable, openServers, type TestServers, until } from './redis-servers.ts';

let servers: TestServers;

beforeAll(async () => {
  servers = await openServers();
});

afterAll(() => servers?.stop());

test('a master with a replica wants its confirmation, and refuses writes that nobody confirms', async () => {
  const ports = await choosePorts(['one', 'two']);
  const start = (name: 'one' | 'two', more: readonly string[]) =>
    servers.start({
      name,
      lines: [...durable, ...more, `port ${ports[name]}`, 'repl-diskless-sync-delay 0'],
      look: { port: ports[name], password: '' },
    });
  const { admin } = await start('one', []);
  const place = redisAt(`redis://127.0.0.1:${ports.one}`);
  expect(await checkRedis({ place, minReplicas: 0, production: true })).toEqual([]);
  await start('two', [`replicaof 127.0.0.1 ${ports.one}`]);
  await until('the replica', async () => /connected_slaves:1/.test(await admin.info('replication')));

  const says = expect.stringMatching(/^Redis may fail over .*: set REDIS_MIN_REPLICAS to 1\.$/);
  expect(await checkRedis({ place, minReplicas: 0, production: true })).toEqual([{ kind: 'failure', says }]);
  expect(await checkRedis({ place, minReplicas: 0, production: false })).toEqual([{ kind: 'warning', says }]);
  expect(await checkRedis({ place, minReplicas: 1, production: true })).toEqual([
    {
      kind: 'warning',
      says: expect.stringMatching(/: set min-replicas-to-write to 1, as REDIS_MIN_REPLICAS\.$/),
    },
  ]);
  await admin.config('SET', 'min-replicas-to-write', '1');
  expect(await checkRedis({ place, minReplicas: 1, production: true })).toEqual([]);
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
      ...durable,
      'port 0',
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
    ],
    look: { port: ports.own, password: '', tls: { ca, servername: 'localhost' } },
  });
  await admin.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
  await until('the cluster', async () => /state:ok/.test(String(await admin.call('CLUSTER', 'INFO'))));
  const source = {
    REDIS_URL: `rediss://localhost:${ports.own}`,
    REDIS_TLS_CA_FILE: join(folder, 'trusted'),
    REDIS_CLUSTER: 'true',
  };
  const place = redisPlace(readSettings(redisSettings, source), source);
  expect(await checkRedis({ place, minReplicas: 0, production: false })).toEqual([
    expect.objectContaining({ kind: 'warning' }),
  ]);

  const logger = createLogger('test', 'error', () => {});
  const store = connectRedis({ place, connectionName: 'test', commandTimeoutMs: 1_000, logger });
  onTestFinished(() => store.close());
  await new Promise<void>(store.onceReady);
  const read = () => store.run('read', 'rt:{a}', (redis) => redis.exists('rt:{a}'));
  expect(await read()).toBe(0);
  await show('second');
  await admin.config('SET', 'tls-cert-file', `${folder}/second.crt`, 'tls-key-file', `${folder}/second.key`);
  const [redis] = store.masters();
  redis?.stream.destroy();
  await until('a read under the new authority', async () => redis?.status === 'end' && (await read()) === 0);
});
