// The master of Redis is killed under a load of refreshes: Sentinels promote a replica, identity follows by itself, no
// consumed token is accepted twice and no acknowledged one is lost; nor when the old master comes back.
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import { expectGraceful, isOfTheMachine, outage } from './outage/course.ts';
import { type OutageLoad, startOutageLoad } from './outage/load.ts';
import { failuresOf, type Sample } from './outage/samples.ts';
import { type ReplicatedRedis, sentinelSettings, startReplicatedRedis } from './redis.ts';
import { type Stores, type System, startStores, startSystem } from './system.ts';

let redis: ReplicatedRedis;
let stores: Stores;
let system: System;
let load: OutageLoad;

beforeAll(async () => {
  stores = await startStores({
    redis: async (network) => {
      redis = await startReplicatedRedis(network);
      return redis.container;
    },
  });
  system = await startSystem(stores, { identity: sentinelSettings });
  load = await startOutageLoad(system.issuer);
  await sleep(2_000);
});

async function until(what: string, milliseconds: number, holds: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + milliseconds; !(await holds()); await sleep(100))
    if (performance.now() > end) throw new Error(`${what}: not within ${milliseconds} ms`);
}

const perSecond = (samples: readonly Sample[], seconds: number) =>
  (
    samples.filter(({ operation, status }) => operation === 'refresh' && status === 200).length / seconds
  ).toFixed(0);

test('the master is killed: 503 alone until a replica is promoted, discovery, key set and reads all along [R14.1, R14.2, R14.3]', async () => {
  const before = await redis.master();
  const rate = perSecond(load.samples, 2);
  const killed = performance.now();
  const course = await outage(load, {
    cut: redis.killFirst,
    restore: () => until('another master', 90_000, async () => (await redis.master()) !== before),
  });
  const seconds = ((performance.now() - killed) / 1_000).toFixed(1);
  expectGraceful(course, ['refresh', 'login'], false);
  const failed = course.all.filter(({ status }) => status !== 200);
  console.log(
    `figure: Redis master killed at ${rate} refreshes a second: ${failed.length} of ${course.all.length} calls in ${seconds} s failed (${failuresOf(failed)}), all well ${course.recoveryMs} ms after the Sentinels named another`,
  );
  expect(failed.length).toBeGreaterThan(0);
});

test('the old master comes back and becomes a replica: nobody notices', async () => {
  const from = performance.now();
  await redis.reviveFirst();
  await until('the first server is a replica', 120_000, async () => (await redis.roleOfFirst()) === 'slave');
  await sleep(1_000);
  const since = load.samples.filter((sample) => sample.begun >= from && !isOfTheMachine(load, sample));
  expect(failuresOf(since)).toBe('');
  expect(since.length).toBeGreaterThan(0);
});

test('no token is accepted twice and none is lost [R11.2, R11.3]', async () => {
  const verdict = await load.stop();
  console.log(`figure: ${verdict.refreshes} refreshes through the failover, ${JSON.stringify(verdict)}`);
  expect(verdict).toMatchObject({ acceptedTwice: 0, lostSuccessors: 0 });
  expect(verdict.refreshes).toBeGreaterThan(100);
});
