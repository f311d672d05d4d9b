// The pods of a component: which there are, what they logged, and what they answer when a program runs in them.
import { eventually, type Kube } from './kube.ts';
import { release } from './settings.ts';

export const components = ['gateway', 'identity', 'design-catalog'] as const;
export type Component = (typeof components)[number];

export interface Pod {
  readonly name: string;
  readonly uid: string;
  readonly address: string;
  readonly node: string;
  readonly ready: boolean;
  readonly restarts: number;
}

interface PodObject {
  readonly metadata: { readonly name: string; readonly uid: string; readonly deletionTimestamp?: string };
  readonly spec: { readonly nodeName?: string };
  readonly status: {
    readonly podIP?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly containerStatuses?: readonly { readonly restartCount: number }[];
  };
}

/** Without those that are on their way out. */
export async function podsWith(kube: Kube, labels: string): Promise<readonly Pod[]> {
  const { items } = await kube.get<{ items: readonly PodObject[] }>('pods', `--selector=${labels}`);
  return items
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map(({ metadata, spec, status }) => ({
      name: metadata.name,
      uid: metadata.uid,
      address: status.podIP ?? '',
      node: spec.nodeName ?? '',
      ready: status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false,
      restarts: status.containerStatuses?.[0]?.restartCount ?? 0,
    }));
}

export const podsOf = (kube: Kube, component: Component) =>
  podsWith(kube, `app.kubernetes.io/instance=${release},app.kubernetes.io/component=${component}`);

export async function allPods(kube: Kube): Promise<readonly Pod[]> {
  return (await Promise.all(components.map((component) => podsOf(kube, component)))).flat();
}

/** Names of the release's pods and how often each was restarted. */
export async function podNames(kube: Kube): Promise<readonly string[]> {
  return (await allPods(kube)).map(({ name, restarts }) => `${name} ${restarts}`).sort();
}

/** Resolves with the pods when there are `count` of them, all ready. */
export function readyPods(kube: Kube, component: Component, count: number): Promise<readonly Pod[]> {
  return eventually(
    () => podsOf(kube, component),
    (pods) => pods.length === count && pods.every(({ ready }) => ready),
  );
}

/** Resolves when each Deployment has come to its newest state, with `count` pods. */
export async function allReady(kube: Kube, count: number): Promise<void> {
  for (const component of components) {
    await kube.kubectl('rollout', 'status', `deployment/${release}-${component}`, '--timeout=180s');
    await readyPods(kube, component, count);
  }
}

/** The messages of each pod's log since then, as they are written. */
export async function logOf(kube: Kube, component: Component, pod: Pod, since: Date) {
  const words = [`--container=${component}`, `--since-time=${since.toISOString()}`];
  return (await kube.kubectl('logs', pod.name, ...words)).split('\n');
}

/** Runs a script with Node in a container; what it prints. */
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
