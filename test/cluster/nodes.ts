// The cluster's nodes that take pods. What is not the release's runs on the first of them; the last one is drained and cut off.
import { vi } from 'vitest';
import { startProcess } from '../support/process.ts';
import { checked, kubeIn, waiting } from './kube.ts';

interface Node {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly taints?: readonly { readonly effect: string }[] };
}

const { kubectl } = kubeIn('default');
const findNodes = async () =>
  (JSON.parse(await kubectl('get', 'nodes', '--output=json')).items as readonly Node[]).filter(
    ({ spec: { taints = [] } }) => taints.every(({ effect }) => effect === 'PreferNoSchedule'),
  );

/** In the order of their names. */
export const nodes = (await findNodes()).map(({ metadata }) => metadata.name);
export const [firstNode = ''] = nodes;
const lastNode = nodes.at(-1) ?? '';

const command = process.env.CUT_NODE ?? '';
/** Whether the last node, not the only one, can be taken off the network. */
export const canCut = nodes.length > 1 && command !== '';

async function runCommand(state: 'down' | 'up'): Promise<void> {
  checked(await startProcess('sh', ['-c', `${command} ${state}`]).ended, [command, state]);
}

/** Takes the last node off the network. What it gives resolves when Kubernetes knows that the node is back. */
export async function cutOff(): Promise<() => Promise<void>> {
  await runCommand('down');
  return async () => {
    await runCommand('up');
    await untilTaken();
  };
}

const untilTaken = () =>
  vi.waitUntil(async () => (await findNodes()).some(({ metadata }) => metadata.name === lastNode), waiting);

/** Evicts the pods of `selector` from the last node, by their budgets; then it takes pods again. */
export async function drain(selector: string): Promise<void> {
  const words = [lastNode, '--ignore-daemonsets', '--delete-emptydir-data', `--pod-selector=${selector}`];
  try {
    await kubectl('drain', ...words, '--timeout=180s');
  } finally {
    await kubectl('uncordon', lastNode);
  }
}
