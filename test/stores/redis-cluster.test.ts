// Identity's store functions on a Redis Cluster: keys of one step share a slot, WAIT reaches the node that wrote,
// redirections are followed, an answer that was lost is never asked for again, a master may die.
import { randomBytes } from 'node:crypto';
import { readSettings } from '@course-exchange/runtime/env';
import { createLogger } from '@course-exchange/runtime/logger';
import { connectRedis } from '@course-exchange/runtime/redis';
import { redisPlace, redisSettings } from '@course-exchange/runtime/redis-settings';
import { Cluster } from 'ioredis';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Sub } from '../../services/identity/src/domain/ids.ts';
import { newSecret } from '../../services/identity/src/domain/secrets.ts';
import {
  createSession,
  findSession,
  touchSession,
} from '../../services/identity/src/store/redis/browser-sessions.ts';
import {
  admitLogin,
  recordLoginFailure,
  releaseLogin,
} from '../../services/identity/src/store/redis/login-failures.ts';
import { readSettingsWarning } from '../../services/identity/src/store/redis/redis-settings.ts';
import {
  deleteGrant,
  familyKey,
  readRefreshFamily,
} from '../../services/identity/src/store/redis/refresh-families.ts';
import type { ReplicatedStore } from '../../services/identity/src/store/redis/replication.ts';
import { hasReplica, type Shard, startCluster, type TestCluster } from './redis-cluster-servers.ts';
import { until } from './redis-servers.ts';
import { beginFamily, type ClientFamily, judge, refresh, startRefreshLoad } from './refresh-load.ts';

let cluster: TestCluster;
let store: ReplicatedStore;

beforeAll(async () => {
  cluster = await startCluster();
  const source = { REDIS_URL: cluster.url, REDIS_CLUSTER: 'true' };
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

async function shardOf({ family }: ClientFamily): Promise<Shard> {
  return cluster.shardOf(familyKey(family));
}

/** A family on `shard`. */
async function beginOn(shard: Shard): Promise<ClientFamily> {
  for (;;) {
    const client = await beginFamily(store);
    if ((await shardOf(client)) === shard) return client;
  }
}

test('every store function works, on every master', async () => {
  const before = await Promise.all(store.masters().map((redis) => redis.dbsize()));
  expect(before).toHaveLength(3);
  for (let i = 0; i < 30; i += 1) {
    const client = await beginFamily(store);
    expect(await refresh(store, client)).toBe(true);
    const cookie = newSecret(randomBytes);
    const now = Date.now();
    const session = { sub: 'ada' as Sub, authTime: now, lastUsed: now };
    await createSession(store, cookie, session);
    expect(await touchSession(store, cookie, session, now)).toBe(true);
    expect(await findSession(store, cookie, now)).toEqual(session);
    const attempt = { id: `${i}`, account: 'a', network: `192.0.${i}.0/24` };
    expect(await admitLogin(store, attempt, now)).toEqual({ kind: 'admitted' });
    await recordLoginFailure(store, attempt, now);
    await releaseLogin(store, attempt, 'succeeded');
    if (i % 3 === 0) {
      await deleteGrant(store, { family: client.family, hash: client.current });
      expect(await readRefreshFamily(store, client.family)).toBeUndefined();
    }
  }
  const after = await Promise.all(store.masters().map((redis) => redis.dbsize()));
  expect(Math.min(...after)).toBeGreaterThan(5);
});

test('a setting that differs on one master is told', async () => {
  const warning = 'min-replicas-to-write is 0, expected 1';
  expect(await readSettingsWarning(store)).toContain(warning);
  for (const { admin } of cluster.nodes) await admin.config('SET', 'min-replicas-to-write', '1');
  expect(await readSettingsWarning(store)).toBeUndefined();
  const { admin } = cluster.shards.c.master;
  await admin.config('SET', 'min-replicas-to-write', '0');
  expect(await readSettingsWarning(store)).toContain(warning);
  for (const node of cluster.nodes) await node.admin.config('SET', 'min-replicas-to-write', '0');
});

test('WAIT asks the replica of the node that wrote: of a shard whose replica hangs no token leaves', async () => {
  const { a, b, c } = cluster.shards;
  const [held, ...free] = [await beginOn(a), await beginOn(b), await beginOn(c)];
  a.replica.kill('SIGSTOP');
  try {
    expect(await refresh(store, held)).toBe(false);
    for (const client of free) expect(await refresh(store, client)).toBe(true);
  } finally {
    a.replica.kill('SIGCONT');
  }
  await until('the replica', async () => refresh(store, await beginOn(a)));
});

test('a slot on its way to another master, and one that has moved, are followed', async () => {
  const { a, b } = cluster.shards;
  const client = await beginOn(a);
  const key = familyKey(client.family);
  const slot = Number(await a.master.admin.call('CLUSTER', 'KEYSLOT', key));
  await b.master.admin.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', a.master.id);
  await a.master.admin.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', b.master.id);
  expect(await refresh(store, client)).toBe(true);
  const [host = '', port = ''] = b.master.address.split(':');
  await a.master.admin.call('MIGRATE', host, port, key, 0, 1000, 'AUTH', 'cluster');
  expect(await refresh(store, client)).toBe(true);
  for (const { master } of [b, a, cluster.shards.c])
    await master.admin.call('CLUSTER', 'SETSLOT', slot, 'NODE', b.master.id);
  expect(await refresh(store, client)).toBe(true);
  expect(await judge(store, [client])).toMatchObject({ acceptedTwice: 0, lost: 0, consumed: 3 });
});

const increment = "-- counted\nreturn redis.call('INCR', KEYS[1])";

test('a command whose answer was lost is not sent again, as the driver by itself would', async () => {
  const { a } = cluster.shards;
  const keyOnA = async () => familyKey((await beginOn(a)).family).replace('rt:', 'session:');
  const [once, twice] = [await keyOnA(), await keyOnA()];
  const careless = new Cluster([...cluster.seeds], { redisOptions: { password: 'cluster' } });
  onTestFinished(() => careless.disconnect());
  await careless.ping();
  a.link.loseAnswerTo('counted');
  expect(await careless.eval(increment, 1, twice)).toBe(2);

  a.link.loseAnswerTo('counted');
  const answer = store.run('increment', once, (redis) => redis.eval(increment, 1, once));
  await expect(answer).rejects.toMatchObject({ code: 'temporarily_unavailable' });
  await until('another refresh', async () => refresh(store, await beginOn(a)));
  expect(await store.run('look', once, (redis) => redis.get(once))).toBe('1');
});

test('a master is killed under a load: no token is accepted twice, no acknowledged one is lost', async () => {
  const { a } = cluster.shards;
  const load = startRefreshLoad(store, 12, 20);
  await until('refreshes', () => load.counts.refreshed > 150);
  a.master.kill('SIGKILL');
  await until('another master', async () => /role:master/.test(await a.replica.admin.info('replication')));
  await a.master.restart();
  await until('a replica of the new one', () => hasReplica(a.replica.admin));
  const { refreshed } = load.counts;
  await until('refreshes without a restart', async () => {
    await refresh(store, await beginOn(a));
    return load.counts.refreshed > refreshed + 150;
  });
  await load.stop();
  const verdict = await judge(store, load.families);
  console.log(JSON.stringify({ ...load.counts, ...verdict }));
  expect(verdict).toMatchObject({ acceptedTwice: 0, lost: 0 });
  expect(verdict.current).toBeGreaterThan(0);
  expect(load.counts.unavailable).toBeGreaterThan(0);
});
