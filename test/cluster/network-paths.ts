// NetworkPolicies: the paths of the architecture are open, all others are not.
import { expect, test, vi } from 'vitest';
import { type Kube, makeNamespace, waiting } from './kube.ts';
import { type Component, components, podsOf, runInside } from './pods.ts';
import { monitoring, type Production, scraper } from './production.ts';
import { idle, startProgram } from './programs.ts';

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

export function networkPaths(production: () => Production): void {
  const everybody = Object.keys(allowed) as (Component | Stranger)[];
  test.each(everybody)('by the NetworkPolicies %s reaches what it may and nothing else', async (from) => {
    const { kube: own } = production();
    const kube = isStranger(from) ? await makeNamespace(strangers[from], 'restricted') : own;
    if (isStranger(from)) await startProgram(kube, from, idle);
    const pod = isStranger(from) ? from : `${(await podsOf(kube, from))[0]?.name}`;
    const paths = await pathsFrom(own, from);
    const open = new Set<string>();
    // On a busy node a path that is allowed may take longer than an attempt; one that is not must never be open.
    await vi.waitFor(async () => {
      const said = await runInside(kube, pod, from, script, ...paths);
      for (const path of said.split(/\s/).filter(Boolean)) open.add(path);
      expect([...open].sort()).toEqual([...allowed[from]].sort());
    }, waiting);
  });
}

/** `component:port@address:port` of one pod of each other component, and the stores. */
async function pathsFrom(kube: Kube, from: string): Promise<readonly string[]> {
  const others = components.filter((component) => component !== from);
  const found = others.map(async (component) => {
    const [pod] = await podsOf(kube, component);
    return ports[component].map((port) => `${component}:${port}@${pod?.address}:${port}`);
  });
  return [...(await Promise.all(found)).flat(), ...stores.map((store) => `${store}@${store}`)];
}

/** Prints which paths are open: where a connection is made within 2.5 s. */
const script = `
  for (const path of process.argv.slice(1)) {
    const [name, host, port] = path.split(/@|:(?=\\d+$)/);
    const socket = require('node:net').connect({ host, port, timeout: 2500 });
    socket.once('connect', () => console.log(name)).once('error', () => {});
    for (const event of ['connect', 'timeout', 'error']) socket.once(event, () => socket.destroy());
  }`;
