// Identity's store functions on a Redis Cluster: keys of one step share a slot, WAIT reaches the node that wrote, a master
// may die; and what operators do to it meanwhile: a slot moves, and the password changes before a failover.
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { networksOf } from '@course-exchange/runtime/process/ip-address';
import { afterAll, expect, test } from 'vitest';
import {
  hasReplicas,
  openStore,
  type Shard,
  startCluster,
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
import { createSession, findSession, touchSession } from '../authorize/session-store.ts';
import type { ClientId, FamilyId, Sub } from '../ids.ts';
import { admitLogin, recordLoginFailure, releaseLogin } from '../login/throttle-store.ts';
import { redisProblem } from '../readiness.ts';
import { newSecret } from '../secrets.ts';
import {
  endFamilies,
  findBeyond,
  listFamilies,
  readFamilies,
  sampleFamilies,
  unlistFamilies,
} from '../token/family-bound-store.ts';
import { deleteGrant, grantKeys, readRefreshFamily } from '../token/grant-store.ts';
import type { RedisStore } from './connect.ts';
import { readSettingsWarning } from './durability.ts';
import { createReplicas } from './replicas.ts';

const cluster = await startCluster();
afterAll(cluster.stop);
const passwordFile = join(cluster.directory, 'password');
writeFileSync(passwordFile, cluster.userPassword);
const source = {
  REDIS_URL: `redis://${cluster.seeds.join(',')}`,
  REDIS_USERNAME: 'identity',
  REDIS_PASSWORD_FILE: passwordFile,
  REDIS_CLUSTER: 'true',
};
const store = await openStore(source);
afterAll(store.close);
/** For what does not depend on the second that a command has: a machine may stall for longer. */
const patient = await openStore(source, undefined, 20_000);
afterAll(patient.close);
/** Nor on the replicas: a busy machine may answer WAIT too late. */
const alone = { ...patient, replicas: createReplicas(0) };

/** A family on `shard`. */
async function beginOn(shard: Shard, on: RedisStore = store): Promise<ClientFamily> {
  for (;;) {
    const client = await beginFamily(on);
    const [, key] = grantKeys(client.familyId);
    if ((await cluster.shardOf(key)) === shard) return client;
  }
}

/** Moves the slot of a family, with its keys, from one master to another. */
async function moveSlot(client: ClientFamily, from: Shard, to: Shard): Promise<void> {
  // The used code lies in the same slot: Redis gives away no slot that holds a key.
  const keys = grantKeys(client.familyId);
  const [source, target] = [from.master.admin, to.master.admin];
  const slot = Number(await source.call('CLUSTER', 'KEYSLOT', keys[0]));
  await target.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', from.master.id);
  await source.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', to.master.id);
  const where = ['127.0.0.1', to.master.port, '', 0, 20_000, 'AUTH', cluster.password];
  await source.call('MIGRATE', ...where, 'KEYS', ...keys);
  for (const { admin } of [to.master, from.master, cluster.shards.c.master])
    await admin.call('CLUSTER', 'SETSLOT', slot, 'NODE', to.master.id);
}

test('every store function works, on every master', async () => {
  const before = await Promise.all(store.masters().map((redis) => redis.dbsize()));
  expect(before).toHaveLength(3);
  for (let i = 0; i < 30; i += 1) {
    const client = await beginFamily(alone);
    expect(await refresh(alone, client)).toBe(true);
    const cookie = newSecret(randomBytes);
    const now = Date.now();
    const session = { sub: 'ada' as Sub, authTime: now, lastUsed: now };
    await createSession(alone, cookie, session);
    expect(await touchSession(alone, cookie, session, now)).toBe(true);
    expect(await findSession(alone, cookie, now)).toEqual(session);
    const attempt = { id: `${i}`, account: 'a', networks: networksOf(`2001:db8:${i}::1`) };
    expect(await admitLogin(alone, attempt, now)).toBe('admitted');
    await recordLoginFailure(alone, attempt, now);
    await releaseLogin(alone, attempt, 'succeeded');
    const family = { familyId: client.familyId, sub: `ada-${i}` as Sub, clientId: 'partner' as ClientId };
    const few = { most: 0, atOnce: 10 };
    const { familyId } = client;
    expect(await listFamilies(alone, family, [familyId], [])).toBe(1);
    expect(await listFamilies(alone, family, [], [familyId])).toBe(1);
    expect(await findBeyond(alone, family, few)).toEqual({ over: 1, first: [client.familyId] });
    expect(await sampleFamilies(alone, family, 0, now)).toEqual([client.familyId]);
    await unlistFamilies(alone, family, [client.familyId]);
    expect(await findBeyond(alone, family, few)).toMatchObject({ over: 0 });
    expect(await readFamilies(alone, [familyId, 'gone' as FamilyId], now)).toMatchObject([
      { familyId, family: { hash: client.current } },
      { family: undefined },
    ]);
    const ends = [{ familyId, hash: client.current }, { familyId: 'gone' as FamilyId }];
    if (i % 3 === 1) expect(await endFamilies(alone, ends)).toEqual(ends.slice(0, 1));
    if (i % 3 === 0) {
      const revocation = { revoked: 'user_disabled', requestId: 'a request', at: now } as const;
      await deleteGrant(alone, { familyId: client.familyId, hash: client.current }, revocation);
      expect(await readRefreshFamily(alone, client.familyId, Date.now)).toMatchObject({ revocation });
    }
  }
  const after = await Promise.all(store.masters().map((redis) => redis.dbsize()));
  expect(Math.min(...after)).toBeGreaterThan(5);
});

test('a setting that differs on one master is reported', async () => {
  const warning = 'min-replicas-to-write is 0, expected 1';
  expect(await readSettingsWarning(patient)).toContain(warning);
  for (const { admin } of cluster.nodes) await admin.config('SET', 'min-replicas-to-write', '1');
  expect(await readSettingsWarning(patient)).toBeUndefined();
  const { admin } = cluster.shards.c.master;
  await admin.config('SET', 'min-replicas-to-write', '0');
  expect(await readSettingsWarning(patient)).toContain(warning);
  for (const node of cluster.nodes) await node.admin.config('SET', 'min-replicas-to-write', '0');
});

test('WAIT asks the replica of the node that wrote: while it hangs no token of its shard leaves', async () => {
  const { a, b, c } = cluster.shards;
  const held = await beginOn(a, alone);
  const others = await Promise.all(Array.from({ length: 20 }, () => beginOn(a, alone)));
  a.replica.kill('SIGSTOP');
  try {
    expect(await refresh(store, held)).toBe(false);
    expect(await Promise.all(others.map((one) => refresh(store, one)))).toEqual(others.map(() => false));
    const current = others.map(({ familyId, current }) => [familyId, current]);
    const stored = others.map(async ({ familyId }) => [familyId, (await findFamily(alone, familyId))?.hash]);
    expect(await Promise.all(stored)).toEqual(current);
    for (const shard of [b, c]) await until('a token', async () => refresh(store, await beginOn(shard)));
  } finally {
    a.replica.kill('SIGCONT');
  }
  await until('the replica', async () => refresh(store, await beginOn(a)));
});

test('the write probe of /healthz reaches every master', async () => {
  expect(await redisProblem(patient)).toBeUndefined();
  for (const { master } of Object.values(cluster.shards))
    expect(await master.admin.keys('health:*')).toHaveLength(1);
});

test('a token of a slot that has moved is unavailable once, and follows to the new node', async () => {
  const { a, b } = cluster.shards;
  let client = await beginOn(a, alone);
  // The store may read the new map before.
  await until('a refusal', async () => {
    client = await beginOn(a, alone);
    await b.master.admin.script('FLUSH');
    await moveSlot(client, a, b);
    return !(await refresh(alone, client));
  });
  await until('the new map', () => refresh(alone, client));
  expect(await judge(store, [{ ...client, unknown: false }])).toMatchObject({ acceptedTwice: 0, lost: 0 });
});

test('a master is killed under a load: no token is accepted twice, no acknowledged one is lost', async () => {
  const { a } = cluster.shards;
  const load = startRefreshLoad(store, 12, 20);
  await until('refreshes', () => load.counts.refreshed > 150);
  const isMet = () => until('a call that meets the outage', () => load.counts.unavailable > 0);
  await cluster.withoutMaster(a, async () => {}, isMet);
  await until('a replica of the new one', () => hasReplicas(a.replica.admin));
  const { refreshed } = load.counts;
  await until('refreshes without a restart', async () => {
    await refresh(store, await beginOn(a));
    return load.counts.refreshed > refreshed + 150;
  });
  await load.stop();
  const verdict = await judge(store, load.families);
  expect(verdict).toMatchObject({ acceptedTwice: 0, lost: 0 });
  expect(verdict.current).toBeGreaterThan(0);
});

test('a failover is followed after the password has changed in its file and the old one is gone', async () => {
  const { b } = cluster.shards;
  const setUser = (rule: string) =>
    Promise.all(cluster.nodes.map(({ admin }) => admin.call('ACL', 'SETUSER', 'identity', rule)));
  await setUser('>second');
  writeFileSync(passwordFile, 'second');
  await setUser(`<${cluster.userPassword}`);
  await cluster.withoutMaster(b, () =>
    until('a refresh there', async () => refresh(alone, await beginOn(b, alone))),
  );
});
