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
export async function podsOf(kube: Kube, component: Component): Promise<readonly Pod[]> {
  const labels = `app.kubernetes.io/instance=${release},app.kubernetes.io/component=${component}`;
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

/** What each component logs once for each piece of its work. */
const workMessage: Readonly<Record<Component, string>> = {
  gateway: 'request',
  identity: 'tokens issued',
  'design-catalog': 'events listed',
};

/** How much of the work each pod has done in the last `seconds`, in the order of `pods`. */
export function workOf(
  kube: Kube,
  component: Component,
  pods: readonly Pod[],
  seconds: number,
): Promise<readonly number[]> {
  const wanted = `"message":"${workMessage[component]}"`;
  return Promise.all(
    pods.map(async ({ name }) => {
      const lines = await kube.kubectl(
        'logs',
        name,
        `--container=${component}`,
        `--since=${Math.ceil(seconds)}s`,
      );
      return lines.split('\n').filter((line) => line.includes(wanted)).length;
    }),
  );
}

/** What the pods that are left logged as a warning or an error in the last `seconds`: how often, and what. */
export async function warningsOf(kube: Kube, seconds: number): Promise<readonly string[]> {
  const logs = await kube.kubectl(
    'logs',
    `--selector=app.kubernetes.io/instance=${release}`,
    '--all-containers',
    '--ignore-errors',
    '--tail=-1',
    `--since=${Math.ceil(seconds)}s`,
  );
  const warnings = logs.split('\n').filter((line) => /"level":"(warn|error)"/.test(line));
  const counts = Map.groupBy(warnings, (line) => line.replace(/"(time|traceId|requestId)":"[^"]*",?/g, ''));
  return [...counts].map(([line, { length }]) => `${length} times: ${line}`);
}

/** Runs a script with Node in a container of the product; what it prints. */
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

/** MiB that the process of each pod holds. */
export async function residentOf(
  kube: Kube,
  component: Component,
  pods: readonly Pod[],
): Promise<readonly number[]> {
  const script = `console.log(/VmRSS:\\s+(\\d+)/.exec(require('node:fs').readFileSync('/proc/1/status', 'utf8'))[1])`;
  const sizes = await Promise.all(pods.map(({ name }) => runInside(kube, name, component, script)));
  return sizes.map((size) => Math.round(Number(size) / 1_024));
}

/** Resolves when the Deployment has come to its newest state, and only pods of that state are left. */
export async function rolledOut({ kube }: { readonly kube: Kube }, component: Component): Promise<void> {
  await kube.kubectl('rollout', 'status', `deployment/${release}-${component}`, '--timeout=180s');
}

export async function allRolledOut(environment: { readonly kube: Kube }): Promise<void> {
  for (const component of components) await rolledOut(environment, component);
}

/** Resolves with the pods when there are `count` of them, all ready. */
export async function readyPods(
  { kube }: { readonly kube: Kube },
  component: Component,
  count: number,
): Promise<readonly Pod[]> {
  return eventually(
    () => podsOf(kube, component),
    (pods) => pods.length === count && pods.every(({ ready }) => ready),
  );
}

export async function allPods(kube: Kube): Promise<readonly Pod[]> {
  return (await Promise.all(components.map((component) => podsOf(kube, component)))).flat();
}

/** Names of the release's pods, sorted. */
export async function podNames(kube: Kube): Promise<readonly string[]> {
  return (await allPods(kube)).map(({ name }) => name).sort();
}
