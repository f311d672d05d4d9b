// One system by images and its outages: a partner reads events; Postgres is stopped, killed and started; each process and
// store loses its network without a word, as when a cable is drawn, and gets it back. What is answered meanwhile, and how
// soon all is well.
import { setTimeout as sleep } from 'node:timers/promises';
import { getContainerRuntimeClient } from 'testcontainers';
import { beforeAll, describe, expect, test } from 'vitest';
import { send } from '../support/http.ts';
import { walkThrough } from './login-walkthrough.ts';
import { expectGraceful, outage } from './outage/course.ts';
import { type OutageLoad, startOutageLoad } from './outage/load.ts';
import type { Operation } from './outage/samples.ts';
import { end } from './postgres.ts';
import { type System, startSystem } from './system.ts';

let system: System;
let load: OutageLoad;

beforeAll(async () => {
  system = await startSystem();
});

async function beginLoad(): Promise<void> {
  load = await startOutageLoad(system.issuer);
  await sleep(1_000);
}

test('a partner gets tokens and reads events', () => walkThrough(system.issuer));

test('the demo partner shows its page', async () => {
  const partner = system.containers['demo-partner'];
  const answer = await send(`http://127.0.0.1:${partner.getMappedPort(9000)}/`);
  expect(answer.status).toBe(200);
});

describe('Postgres', () => {
  beforeAll(beginLoad);

  const needPostgres = ['refresh', 'login', 'user-info', 'events'] as const;

  test.each([
    ['stopped fast', 'SIGINT'],
    ['killed', 'SIGKILL'],
  ] as const)(
    '%s and started: 503 alone, discovery and key set all along, recovery by itself [R14.1, R14.2, R14.3]',
    async (name, how) => {
      const begun = performance.now();
      const course = await outage(load, {
        cut: () => end(system.containers.postgres, how),
        restore: () => system.containers.postgres.restart(),
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
});

type Subject = 'identity' | 'design-catalog' | 'postgres' | 'redis';

const needs: Readonly<Record<Subject, readonly Operation[]>> = {
  redis: ['refresh', 'login'],
  postgres: ['refresh', 'login', 'user-info', 'events'],
  identity: ['refresh', 'login', 'user-info'],
  'design-catalog': ['events'],
};

describe('without a word', () => {
  beforeAll(beginLoad);

  test.each(Object.keys(needs) as Subject[])(
    '%s loses its network and gets it back: 503 alone, recovery by itself [R14.1, R14.2, R14.3]',
    async (subject) => {
      const { dockerode } = (await getContainerRuntimeClient()).container;
      const network = dockerode.getNetwork(system.network.getId());
      const container = system.containers[subject];
      const course = await outage(load, {
        cut: () => network.disconnect({ Container: container.getId(), Force: true }),
        restore: () =>
          network.connect({ Container: container.getId(), EndpointConfig: { Aliases: [subject] } }),
      });
      console.log(
        `figure: ${subject} without its network: all well ${course.recoveryMs} ms after its return`,
      );
      expectGraceful(course, needs[subject], true);
    },
  );

  test('no token is accepted twice, and none that a partner was given is lost [R11.2, R11.3]', async () => {
    const verdict = await load.stop();
    console.log(`figure: lost network: ${JSON.stringify(verdict)}`);
    expect(verdict).toMatchObject({ acceptedTwice: 0, lostSuccessors: 0 });
  });
});
