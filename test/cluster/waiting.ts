// Waiting for a cluster to settle.

import { type Environment, release } from './environment.ts';
import { eventually } from './eventually.ts';
import { type Component, components, type Pod, podsOf } from './pods.ts';

/** Resolves when the Deployment has come to its newest state, and only pods of that state are left. */
export async function rolledOut({ kube }: Environment, component: Component): Promise<void> {
  await kube.kubectl('rollout', 'status', `deployment/${release}-${component}`, '--timeout=180s');
}

export async function allRolledOut(environment: Environment): Promise<void> {
  for (const component of components) await rolledOut(environment, component);
}

/** Resolves with the pods when there are `count` of them, all ready. */
export async function readyPods(
  { kube }: Environment,
  component: Component,
  count: number,
): Promise<readonly Pod[]> {
  return eventually(
    () => podsOf(kube, release, component),
    (pods) => pods.length === count && pods.every(({ ready }) => ready),
  );
}
