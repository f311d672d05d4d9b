// What operators do to a Redis Cluster while identity runs: a slot moves to a node that knows no script, and the
// password changes before a failover.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readSettings } from '@course-exchange/runtime/env';
import { createLogger } from '@course-exchange/runtime/logger';
import { connectRedis } from '@course-exchange/runtime/redis';
import { redisPlace, redisSettings } from '@course-exchange/runtime/redis-settings';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { familyKey } from '../../services/identity/src/store/redis/refresh-families.ts';
import type { ReplicatedStore } from '../../services/identity/src/store/redis/replication.ts';
import { type Shard, startCluster, type TestCluster } from './redis-cluster-servers.ts';
import { until } from './redis-servers.ts';
import { beginFamily, type ClientFamily, refresh } from './refresh-load.ts';

let cluster: TestCluster;
let store: ReplicatedStore;
let passwordFile: string;

beforeAll(async () => {
  cluster = await startCluster();
  passwordFile = join(cluster.directory, 'password');
  writeFileSync(passwordFile, cluster.userPassword);
  const source = {
    REDIS_URL: `redis://${cluster.seeds.join(',')}`,
    REDIS_USERNAME: 'identity',
    REDIS_PASSWORD_FILE: passwordFile,
    REDIS_CLUSTER: 'true',
  };
  const connected = connectRedis({
    place: redisPlace(readSettings(redisSettings, source), source),
    connectionName: 'test',
    commandTimeoutMs: 1_000,
    logger: createLogger('test', 'error', () => {}),
  });
  store = { ...connected, minReplicas: 1 };
  await new Promise<void>(store.onceReady);
});

afterAll(async () => {
  await store?.close();
  await cluster?.stop();
});

/** A family on `shard`. */
async function beginOn(shard: Shard, on = store): Promise<ClientFamily> {
  for (;;) {
    const client = await beginFamily(on);
    if ((await cluster.shardOf(familyKey(client.family))) === shard) return client;
  }
}

test('a script follows its key to a node that has never seen it', async () => {
  const { a, b, c } = cluster.shards;
  const client = await beginOn(a);
  const key = familyKey(client.family);
  const slot = Number(await a.master.admin.call('CLUSTER', 'KEYSLOT', key));
  await b.master.admin.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', a.master.id);
  await a.master.admin.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', b.master.id);
  const [host = '', port = ''] = b.master.address.split(':');
  await a.master.admin.call('MIGRATE', host, port, key, 0, 1000, 'AUTH', 'cluster');
  await b.master.admin.script('FLUSH');
  expect(await refresh(store, client)).toBe(true);
  for (const { master } of [b, a, c])
    await master.admin.call('CLUSTER', 'SETSLOT', slot, 'NODE', b.master.id);
  expect(await refresh(store, client)).toBe(true);
});

test('a failover is followed after the password has changed in its file and the old one is gone', async () => {
  const { b } = cluster.shards;
  const setUser = (rule: string) =>
    Promise.all(cluster.nodes.map(({ admin }) => admin.call('ACL', 'SETUSER', 'identity', rule)));
  await setUser('>second');
  writeFileSync(passwordFile, 'second');
  await setUser(`<${cluster.userPassword}`);
  b.master.kill('SIGKILL');
  await until('another master', async () => /role:master/.test(await b.replica.admin.info('replication')));
  const alone = { ...store, minReplicas: 0 };
  await until('a refresh there', async () => refresh(alone, await beginOn(b, alone)));
});
