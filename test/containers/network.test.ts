// The network between each pair of processes: cut, silent, reset and slow. What needs the pair says 503, what does not goes
// on (docs/operations.md, "When something is away"), and all is well by itself afterwards.
import { setTimeout as sleep } from 'node:timers/promises';
import { GenericContainer, type StartedNetwork, Wait } from 'testcontainers';
import { beforeAll, describe, expect, test } from 'vitest';
import { expectGraceful, outage } from './outage/course.ts';
import { type OutageLoad, startOutageLoad } from './outage/load.ts';
import type { Operation } from './outage/samples.ts';
import { type Stores, type System, startStores, startSystem } from './system.ts';

/** Empty where there is none. */
const toxiproxyImage = process.env.TOXIPROXY_IMAGE ?? 'ghcr.io/shopify/toxiproxy:2.12.0';

/** Who calls whom, and where the callee listens. */
const pairs = {
  'gateway–identity': 'identity:7001',
  'gateway–catalog': 'design-catalog:7002',
  'catalog–identity': 'identity:7001',
  'identity–Postgres': 'postgres:5432',
  'identity–Redis': 'redis:6379',
  'catalog–Postgres': 'postgres:5432',
} as const;
type Pair = keyof typeof pairs;

const api = 8474;
const firstPort = 8666;
const names = Object.keys(pairs) as Pair[];

/** What can be done to a pair, each with its toxics in the words of Toxiproxy; none of them: nobody listens. */
const harms = {
  'refused connections': [],
  'a black hole': [
    { type: 'timeout', stream: 'upstream', attributes: { timeout: 0 } },
    { type: 'timeout', stream: 'downstream', attributes: { timeout: 0 } },
  ],
  'answers that vanish': [{ type: 'timeout', stream: 'downstream', attributes: { timeout: 0 } }],
  'reset connections': [{ type: 'reset_peer', stream: 'upstream', attributes: { timeout: 0 } }],
  '300 ms of latency': [{ type: 'latency', stream: 'downstream', attributes: { latency: 300 } }],
} as const;
type Harm = keyof typeof harms;

interface Proxies {
  /** Where each caller finds its callee now. */
  readonly addresses: Readonly<Record<Pair, string>>;
  readonly harm: (pair: Pair, harm: Harm) => Promise<void>;
  /** Everything as if there were no proxy. */
  readonly heal: () => Promise<void>;
}

/** The callees need not be there yet. */
async function startProxies(network: StartedNetwork): Promise<Proxies> {
  const container = await new GenericContainer(toxiproxyImage)
    .withNetwork(network)
    .withNetworkAliases('toxiproxy')
    .withExposedPorts(api)
    .withWaitStrategy(Wait.forHttp('/version', api).forStatusCode(200))
    .start();
  const base = `http://${container.getHost()}:${container.getMappedPort(api)}`;

  async function post(path: string, body: object): Promise<void> {
    const answer = await fetch(`${base}${path}`, { method: 'POST', body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`Toxiproxy answers ${path} with ${answer.status} ${await answer.text()}`);
  }

  const proxies = names.map((pair, index) => ({
    name: nameOf(pair),
    listen: `0.0.0.0:${firstPort + index}`,
    upstream: pairs[pair],
    enabled: true,
  }));
  await post('/populate', proxies);
  return {
    addresses: Object.fromEntries(
      names.map((pair, index) => [pair, `toxiproxy:${firstPort + index}`]),
    ) as Record<Pair, string>,
    harm: async (pair, harm) => {
      if (harm === 'refused connections') await post(`/proxies/${nameOf(pair)}`, { enabled: false });
      for (const toxic of harms[harm]) await post(`/proxies/${nameOf(pair)}/toxics`, toxic);
    },
    heal: () => post('/reset', {}),
  };
}

function nameOf(pair: Pair): string {
  return pair.replace('–', '-');
}

let stores: Stores;
let proxies: Proxies;
let system: System;
let load: OutageLoad;

beforeAll(async () => {
  stores = await startStores();
  proxies = await startProxies(stores.network);
  const at = proxies.addresses;
  system = await startSystem(stores, {
    gateway: {
      IDENTITY_TARGET: `dns:///${at['gateway–identity']}`,
      CATALOG_TARGET: `dns:///${at['gateway–catalog']}`,
    },
    identity: {
      POSTGRES_URL: stores.postgresUrl('identity_rw', at['identity–Postgres']),
      OPERATOR_POSTGRES_URL: stores.postgresUrl('identity_operator', at['identity–Postgres']),
      REDIS_URL: `redis://${at['identity–Redis']}`,
    },
    'design-catalog': {
      IDENTITY_TARGET: `dns:///${at['catalog–identity']}`,
      POSTGRES_URL: stores.postgresUrl('catalog_ro', at['catalog–Postgres']),
    },
  });
  load = await startOutageLoad(system.issuer);
  await sleep(1_000);
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
