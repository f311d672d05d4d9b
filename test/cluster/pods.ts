// The pods of a component: which there are, what they logged, and what they answer when a program runs in them.
import { expect, vi } from 'vitest';
import { type Kube, release, waiting } from './kube.ts';

export const components = ['gateway', 'identity', 'design-catalog'] as const;
export type Component = (typeof components)[number];

export type Pod = Awaited<ReturnType<typeof podsWith>>[number];

const columns = [
  'NAME:.metadata.name',
  'UID:.metadata.uid',
  'ADDRESS:.status.podIP',
  'NODE:.spec.nodeName',
  'READY:.status.conditions[?(@.type=="Ready")].status',
  'SINCE:.status.conditions[?(@.type=="Ready")].lastTransitionTime',
  'RESTARTS:.status.containerStatuses[0].restartCount',
  'LEAVES:.metadata.deletionTimestamp',
].join();

/** Without those that are on their way out. */
export async function podsWith(kube: Kube, labels: string) {
  const words = [`--selector=${labels}`, '--no-headers', `--output=custom-columns=${columns}`];
  const rows = (await kube.kubectl('get', 'pods', ...words)).trimEnd().split('\n');
  return rows
    .map((row) => row.split(/ +/))
    .filter(([, , , , , , , leaves]) => leaves === '<none>')
    .map(([name = '', uid = '', address = '', node = '', ready, since, restarts]) => ({
      ...{ name, uid, address, node },
      ready: ready === 'True',
      since,
      restarts: Number(restarts) || 0,
    }));
}

export const podsOf = (kube: Kube, component: Component) =>
  podsWith(kube, `app.kubernetes.io/instance=${release},app.kubernetes.io/component=${component}`);

export async function allPods(kube: Kube): Promise<readonly Pod[]> {
  return (await Promise.all(components.map((component) => podsOf(kube, component)))).flat();
}

export async function podNames(kube: Kube): Promise<readonly string[]> {
  return (await allPods(kube)).map(({ name, restarts }) => `${name} ${restarts}`).sort();
}

export const readyPods = (kube: Kube, component: Component, count: number): Promise<readonly Pod[]> =>
  vi.waitFor(async () => {
    const pods = await podsOf(kube, component);
    expect(pods.map(({ ready }) => ready)).toEqual(Array(count).fill(true));
    return pods;
  }, waiting);

export async function allReady(kube: Kube, count: number): Promise<void> {
  for (const component of components) {
    await kube.kubectl('rollout', 'status', `deployment/${release}-${component}`, '--timeout=180s');
    await readyPods(kube, component, count);
  }
}

export const logOf = (kube: Kube, component: Component, pod: Pod, since: Date) =>
  kube.kubectl('logs', pod.name, `--container=${component}`, `--since-time=${since.toISOString()}`);

export function runInside(
  kube: Kube,
  pod: string,
  container: string,
  script: string,
  ...words: readonly string[]
): Promise<string> {
  const node = ['/usr/local/bin/node', '--eval', script, ...words];
  return kube.kubectl('exec', pod, `--container=${container}`, '--', ...node);
}
