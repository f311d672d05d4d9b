// The network between each pair of processes: cut, silent, reset and slow. What needs the pair says 503, what does not goes
// on (docs/operations.md, "When something is away"), and all is well by itself afterwards.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectGraceful, outage } from './outage/course.ts';
import { type OutageLoad, startOutageLoad } from './outage/load.ts';
import type { Operation } from './outage/samples.ts';
import type { Pair } from './pairs.ts';
import { toxiproxyImage } from './settings.ts';
import { type Stores, startStores } from './stores.ts';
import { type System, startSystem } from './system.ts';
import { type Harm, harms, type Proxies, startProxies } from './toxiproxy.ts';

let stores: Stores;
let proxies: Proxies;
let system: System;
let load: OutageLoad;

beforeAll(async () => {
  stores = await startStores();
  proxies = await startProxies(stores.network);
  system = await startSystem(stores, { addresses: proxies.addresses });
  load = await startOutageLoad(system.issuer);
  await sleep(1_000);
});

afterAll(async () => {
  await system?.close();
  await proxies?.close();
  await stores?.close();
});

const needs: Readonly<Record<Pair, readonly Operation[]>> = {
  'gateway–identity': ['refresh', 'login', 'user-info'],
  'gateway–catalog': ['events'],
  'catalog–identity': [],
  'identity–Postgres': ['refresh', 'login', 'user-info'],
  'identity–Redis': ['refresh', 'login'],
  'catalog–Postgres': ['events'],
};

/** test/containers/run.ts has said why. */
const withoutProxy = toxiproxyImage === '';
const everyPair = Object.keys(needs) as Pair[];
const everyHarm = (Object.keys(harms) as Harm[]).filter((harm) => harm !== 'answers that vanish');

describe.skipIf(withoutProxy).each(everyPair)('between %s', (pair) => {
  test.each(everyHarm)('%s [R14.1, R14.2, R14.3]', async (harm) => {
    await expectGracefulWith(pair, harm, harm !== '300 ms of latency');
  });
});

test.skipIf(withoutProxy).each(['gateway–identity', 'identity–Redis'] as const)(
  'answers that vanish between %s: what they answered was done, once [R14.1, R14.2]',
  (pair) => expectGracefulWith(pair, 'answers that vanish', true),
);

async function expectGracefulWith(pair: Pair, harm: Harm, certainly: boolean): Promise<void> {
  const course = await outage(load, {
    cut: () => proxies.harm(pair, harm),
    restore: () => proxies.heal(),
  });
  const failed = course.all.filter(({ status }) => status !== 200).length;
  const longest = Math.max(...course.all.map(({ begun, ended }) => ended - begun));
  console.log(
    `figure: ${pair}, ${harm}: ${failed} of ${course.all.length} calls failed, the longest call ${longest.toFixed(0)} ms, all well ${course.recoveryMs} ms after its end`,
  );
  expectGraceful(course, needs[pair], certainly);
  expect(course.recoveryMs).toBeLessThan(5_000);
}

test.skipIf(withoutProxy)(
  'no token is accepted twice, and none that a partner was given is lost [R11.2, R11.3]',
  async () => {
    const verdict = await load.stop();
    console.log(`figure: network: ${JSON.stringify(verdict)}`);
    expect(verdict).toMatchObject({ acceptedTwice: 0, lostSuccessors: 0 });
    // Those of the answers that vanished: their tokens are spent, and the partner cannot know.
    expect(verdict.lostAnswers).toBeGreaterThan(0);
  },
);
