// Postgres stopped and started, and killed, under a running system: what is answered meanwhile, and how soon all is well.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectGraceful, outage } from './outage/course.ts';
import { type OutageLoad, startOutageLoad } from './outage/load.ts';
import { end, type PostgresContainer, startPostgres } from './postgres.ts';
import { type Stores, startStores } from './stores.ts';
import { type System, startSystem } from './system.ts';

let postgres: PostgresContainer;
let stores: Stores;
let system: System;
let load: OutageLoad;

beforeAll(async () => {
  stores = await startStores({
    postgres: async (network) => {
      postgres = await startPostgres(network);
      return postgres;
    },
  });
  system = await startSystem(stores);
  load = await startOutageLoad(system.issuer);
  await sleep(1_000);
});

afterAll(async () => {
  await system?.close();
  await stores?.close();
});

const needPostgres = ['refresh', 'login', 'user-info', 'events'] as const;

test.each([
  ['stopped fast', 'SIGINT'],
  ['killed', 'SIGKILL'],
] as const)(
  'Postgres %s and started: 503 alone, discovery and key set all along, recovery by itself [R14.1, R14.2, R14.3]',
  async (name, how) => {
    const begun = performance.now();
    const course = await outage(load, {
      cut: () => end(postgres.container, how),
      restore: () => postgres.container.restart(),
    });
    const seconds = ((performance.now() - begun) / 1_000).toFixed(1);
    const failed = course.all.filter(({ status }) => status !== 200).length;
    console.log(
      `figure: Postgres ${name}: ${failed} of ${course.all.length} calls answered 503 in ${seconds} s, all well ${course.recoveryMs} ms after it took connections again`,
    );
    expectGraceful(course, needPostgres, true);
    expect(course.recoveryMs).toBeLessThan(5_000);
  },
);

test('no token is accepted twice and none is lost [R11.2, R11.3]', async () => {
  const verdict = await load.stop();
  console.log(`figure: ${verdict.refreshes} refreshes through both, ${JSON.stringify(verdict)}`);
  expect(verdict).toMatchObject({ acceptedTwice: 0, lostSuccessors: 0, lostAnswers: 0 });
});
