// NetworkPolicies: the arrows of the architecture are open, all others are not.
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { startStranger, stranger, tryConnections } from './connections.ts';
import { type Environment, release } from './environment.ts';
import { figure } from './figures.ts';
import { type Component, components, podsOf } from './pods.ts';

const ports: Readonly<Record<Component, readonly number[]>> = {
  gateway: [8080, 8081],
  identity: [7001, 7101, 7201],
  'design-catalog': [7002, 7102, 7301],
};
const stores = ['postgres:5432', 'redis:6379'];

/** `component:port` or a store, by who may connect to it. The kubelet's probes pass anyway. */
const allowed: Readonly<Record<Component | typeof stranger, readonly string[]>> = {
  gateway: ['identity:7001', 'design-catalog:7002'],
  identity: stores,
  'design-catalog': ['identity:7001', 'postgres:5432'],
  // The stores belong to the operator, whose policies are not the chart's.
  [stranger]: stores,
};

export function arrows(environment: () => Environment): void {
  describe('NetworkPolicies', () => {
    test.each([...components, stranger] as const)('%s reaches what it may and nothing else', async (from) => {
      const { kube } = environment();
      if (from === stranger) {
        await startStranger(kube);
        // A policy holds for a pod from its first second on.
        await sleep(3_000);
      }
      const addresses = await addressesOf(environment(), from);
      const [own] = from === stranger ? [] : await podsOf(kube, release, from);
      const targets = [...addresses.keys(), ...stores];
      const said = await tryConnections(kube, own?.name ?? stranger, from, targets);
      const open = targets.filter((target) => said[target] === 'open');
      expect(open.map((target) => addresses.get(target) ?? target).sort()).toEqual([...allowed[from]].sort());
      figure(`${from}: connections tried, open`, `${targets.length}, ${open.length}`);
    });
  });
}

/** `component:port` by `address:port`, of one pod of each other component. */
async function addressesOf({ kube }: Environment, from: string): Promise<ReadonlyMap<string, string>> {
  const others = components.filter((component) => component !== from);
  const entries = await Promise.all(
    others.map(async (component) => {
      const [pod] = await podsOf(kube, release, component);
      return ports[component].map((port) => [`${pod?.address}:${port}`, `${component}:${port}`] as const);
    }),
  );
  return new Map(entries.flat());
}
