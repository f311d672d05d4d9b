// NetworkPolicies: the paths of the architecture are open, all others are not.
import { expect, test } from 'vitest';
import { eventually, type Kube, kubeIn } from './kube.ts';
import { type Component, components, podsOf, runInside } from './pods.ts';
import { monitoring, type Production, scraper } from './production.ts';
import { node, startProgram } from './programs.ts';
import { namespaceOf } from './settings.ts';

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
    const kube = isStranger(from) ? kubeIn(namespaceOf(strangers[from])) : own;
    if (isStranger(from)) await startProgram(kube, from, node('setInterval(() => {}, 60_000)'));
    const pod = isStranger(from) ? from : `${(await podsOf(kube, from))[0]?.name}`;
    const addresses = await addressesOf(production(), from);
    const targets = [...addresses.keys(), ...stores];
    const openPaths = async () => {
      const said = await tryConnections(kube, pod, from, targets);
      const open = targets.filter((target) => said[target] === 'open');
      return open.map((target) => addresses.get(target) ?? target);
    };
    // On a busy node a path that is allowed may take longer than an attempt; one that is not must never be open.
    const open = await eventually(openPaths, (seen) => {
      const isStrange = seen.some((path) => !allowed[from].includes(path));
      return isStrange || seen.length === allowed[from].length;
    });
    expect(open.sort()).toEqual([...allowed[from]].sort());
  });
}

/** `component:port` by `address:port`, of one pod of each other component. */
async function addressesOf({ kube }: Production, from: string): Promise<ReadonlyMap<string, string>> {
  const others = components.filter((component) => component !== from);
  const entries = await Promise.all(
    others.map(async (component) => {
      const [pod] = await podsOf(kube, component);
      return ports[component].map((port) => [`${pod?.address}:${port}`, `${component}:${port}`] as const);
    }),
  );
  return new Map(entries.flat());
}

const script = `
  const net = require('node:net');
  const attempt = (target) => new Promise((resolve) => {
    const at = target.lastIndexOf(':');
    const socket = net.connect({ host: target.slice(0, at), port: Number(target.slice(at + 1)), timeout: 2500 });
    const end = (said) => { socket.destroy(); resolve([target, said]); };
    socket.once('connect', () => end('open')).once('timeout', () => end('silent')).once('error', (error) => end(error.code));
  });
  Promise.all(process.argv.slice(1).map(attempt)).then((said) => console.log(JSON.stringify(Object.fromEntries(said))));`;

/** For each `host:port`: `open`, `silent` (no answer within 2.5 s), or the code of the refusal. */
async function tryConnections(
  kube: Kube,
  pod: string,
  container: string,
  targets: readonly string[],
): Promise<Readonly<Record<string, string>>> {
  return JSON.parse(await runInside(kube, pod, container, script, ...targets)) as Record<string, string>;
}
