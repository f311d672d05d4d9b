// A process or store that loses its network without a word, as when a cable is drawn, and gets it back: nobody tells those
// who are connected to it.
import { setTimeout as sleep } from 'node:timers/promises';
import { getContainerRuntimeClient, type StartedTestContainer } from 'testcontainers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectGraceful, outage } from './outage/course.ts';
import { type OutageLoad, startOutageLoad } from './outage/load.ts';
import type { Operation } from './outage/samples.ts';
import { type Stores, startStores } from './stores.ts';
import { type System, startSystem } from './system.ts';

let stores: Stores;
let system: System;
let load: OutageLoad;

beforeAll(async () => {
  stores = await startStores();
  system = await startSystem(stores);
  load = await startOutageLoad(system.issuer);
  await sleep(1_000);
});

afterAll(async () => {
  await system?.close();
  await stores?.close();
});

type Subject = 'identity' | 'design-catalog' | 'postgres' | 'redis';

const needs: Readonly<Record<Subject, readonly Operation[]>> = {
  redis: ['refresh', 'login'],
  postgres: ['refresh', 'login', 'user-info', 'events'],
  identity: ['refresh', 'login', 'user-info'],
  'design-catalog': ['events'],
};

test.each(Object.keys(needs) as Subject[])(
  '%s loses its network and gets it back: 503 alone, recovery by itself [R14.1, R14.2, R14.3]',
  async (subject) => {
    const { dockerode } = (await getContainerRuntimeClient()).container;
    const network = dockerode.getNetwork(stores.network.getId());
    const container: StartedTestContainer = { ...stores.containers, ...system.containers }[subject];
    const course = await outage(load, {
      cut: () => network.disconnect({ Container: container.getId(), Force: true }),
      restore: () =>
        network.connect({ Container: container.getId(), EndpointConfig: { Aliases: [subject] } }),
    });
    console.log(`figure: ${subject} without its network: all well ${course.recoveryMs} ms after its return`);
    expectGraceful(course, needs[subject], true);
  },
);

test('no token is accepted twice, and none that a partner was given is lost [R11.2, R11.3]', async () => {
  const verdict = await load.stop();
  console.log(`figure: lost network: ${JSON.stringify(verdict)}`);
  expect(verdict).toMatchObject({ acceptedTwice: 0, lostSuccessors: 0 });
});
