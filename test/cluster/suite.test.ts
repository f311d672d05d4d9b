// Production on a real cluster, in the order of an environment's life: what it may reach and who may read it, then what is
// done to it under the workload.
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { playEachRow } from '../faults/each-row.ts';
import { table } from '../faults/table.ts';
import { startOnCluster } from '../faults/targets/cluster.ts';
import { send } from '../support/http.ts';
import { makeNamespace, waiting } from './kube.ts';
import { type Component, components, idle, podsOf, runInside, startProgram } from './pods.ts';
import { installProduction, monitoring, type Production, scraper } from './production.ts';

let installed: Production;

beforeAll(async () => {
  installed = await installProduction();
}, 600_000);

test('no port but the public one is reached, and no route but the public ones', async () => {
  const routes = ['/livez', '/readyz', '/healthz', '/metrics', '/operator'];
  for (const path of [...routes, '/identity.v1.TokenService/ExchangeToken'])
    expect([path, (await send(`${installed.stack.issuer}${path}`)).status]).toEqual([path, 404]);
});

/** Pods that are not the release's, by the namespace that they run in. */
const strangers = { stranger: 'production', [scraper]: monitoring } as const;
type Stranger = keyof typeof strangers;

const ports: Readonly<Record<Component, readonly number[]>> = {
  gateway: [8080, 8081],
  identity: [7001, 7101, 7201],
  'design-catalog': [7002, 7102, 7301],
};
const stores = ['postgres:5432', 'redis:6379'];

/** `component:port` or a store, by who may connect to it. The kubelet's probes pass anyway. */
const allowed: Readonly<Record<Component | Stranger, readonly string[]>> = {
  gateway: ['identity:7001', 'design-catalog:7002'],
  identity: stores,
  'design-catalog': ['identity:7001', 'postgres:5432'],
  // The stores belong to the operator, whose policies are not the chart's.
  stranger: stores,
  [scraper]: ['gateway:8081', 'identity:7101', 'design-catalog:7102'],
};

const isStranger = (name: string): name is Stranger => name in strangers;

describe.concurrent('by the NetworkPolicies', () => {
  const everybody = Object.keys(allowed) as (Component | Stranger)[];
  test.each(everybody)('%s reaches what it may and nothing else', async (from) => {
    const { kube: own } = installed;
    const kube = isStranger(from) ? await makeNamespace(strangers[from], 'restricted') : own;
    if (isStranger(from)) await startProgram(kube, from, idle);
    const pod = isStranger(from) ? from : `${(await podsOf(kube, from))[0]?.name}`;
    const paths = await pathsFrom(from);
    const open = new Set<string>();
    // On a busy node a path that is allowed may take longer than an attempt; one that is not must never be open.
    await vi.waitFor(async () => {
      const said = await runInside(kube, pod, from, attempts, ...paths);
      for (const path of said.split(/\s/).filter(Boolean)) open.add(path);
      expect([...open].sort()).toEqual([...allowed[from]].sort());
    }, waiting);
  });
});

describe('under the workload', () => {
  playEachRow(table.cluster, () => startOnCluster(installed));
});

test('the services hold at most 300 MiB after all that', async () => {
  const script = `console.log(/VmRSS:\\s+(\\d+)/.exec(require('node:fs').readFileSync('/proc/1/status', 'utf8'))[1])`;
  for (const component of components)
    for (const { name } of await podsOf(installed.kube, component)) {
      const size = Number(await runInside(installed.kube, name, component, script)) / 1_024;
      console.log(`figure: ${name}: ${Math.round(size)} MiB resident at the end`);
      expect(size).toBeLessThan(300);
    }
});

/** `component:port@address:port` of one pod of each other component, and the stores. */
async function pathsFrom(from: string): Promise<readonly string[]> {
  const others = components.filter((component) => component !== from);
  const found = others.map(async (component) => {
    const [pod] = await podsOf(installed.kube, component);
    return ports[component].map((port) => `${component}:${port}@${pod?.address}:${port}`);
  });
  return [...(await Promise.all(found)).flat(), ...stores.map((store) => `${store}@${store}`)];
}

/** Prints which paths are open: where a connection is made within 2.5 s. */
const attempts = `
  for (const path of process.argv.slice(1)) {
    const [name, host, port] = path.split(/@|:(?=\\d+$)/);
    const socket = require('node:net').connect({ host, port, timeout: 2500 });
    socket.once('connect', () => console.log(name)).once('error', () => {});
    for (const event of ['connect', 'timeout', 'error']) socket.once(event, () => socket.destroy());
  }`;
