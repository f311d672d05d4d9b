// What an operator does to a release while partners go on. Each resolves when it is done, and rejects where it did something
// else than it should.
import { expect } from 'vitest';
import { chart } from '../chart/render.ts';
import { openCaller } from '../support/caller.ts';
import { blocksOf } from './guide.ts';
import { eventually } from './kube.ts';
import { allReady, type Component, components, logOf, podNames, podsOf, readyPods } from './pods.ts';
import { connectionAgeSeconds, type Production, replicas } from './production.ts';
import { secret } from './programs.ts';
import { release } from './settings.ts';

/** Seconds within which every pod of a component has its share of the work. */
const spreadSeconds = connectionAgeSeconds + 15;

const [upgrading, rollingBack] = blocksOf('## Upgrade');

export const upgrade = (production: Production) => replacePods(production, upgrading);
export const rollBack = (production: Production) => replacePods(production, rollingBack);

/** Every pod is of another version when it is done. */
async function replacePods({ kube, follow }: Production, block: string | undefined): Promise<void> {
  const before = await podNames(kube);
  await follow(block);
  await allReady(kube, replicas);
  expect((await podNames(kube)).filter((name) => before.includes(name))).toEqual([]);
}

/** One after the other, each when the one before has its successor. */
export async function deletePods({ kube }: Production): Promise<void> {
  for (const component of components) {
    const [pod] = await podsOf(kube, component);
    await kube.kubectl('delete', 'pod', `${pod?.name}`, '--wait=false');
    await readyPods(kube, component, replicas);
  }
}

/** From one pod of each to three, which an autoscaler takes over; each of them works. */
export async function scale({ kube, stack, follow }: Production): Promise<void> {
  for (const count of [1, 3]) {
    const deployments = components.map((component) => `deployment/${release}-${component}`);
    await kube.kubectl('scale', ...deployments, `--replicas=${count}`);
    await allReady(kube, count);
  }
  const begun = performance.now();
  const before = await podNames(kube);
  const settings = ['enabled=true', 'maxReplicas=3'].flatMap((setting) =>
    ['defaults', 'gateway'].map((name) => `--set=${name}.autoscaling.${setting}`),
  );
  // As many at most as there are: what it added would hide what it dropped.
  await kube.helm('upgrade', release, chart, '--reuse-values', ...settings, '--wait', '--timeout=5m');
  const leftSeconds = spreadSeconds - (performance.now() - begun) / 1_000;
  const shares = await eventually(
    () => sharesOf({ kube, stack }),
    (each) => each.every(isFair),
    Math.max(0, leftSeconds),
  );
  console.log(`figure: pieces of work of each of three pods: ${JSON.stringify(shares)}`);
  await eventually(
    () => kube.get<{ items: readonly Autoscaler[] }>('horizontalpodautoscalers'),
    ({ items }) => items.length === components.length && items.every(hasDecided),
  );
  expect(await podNames(kube)).toEqual(before);
  await follow(rollingBack);
  await allReady(kube, replicas);
}

interface Autoscaler {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** It has seen metrics. */
const hasDecided = ({ status }: Autoscaler) =>
  status?.conditions?.some((one) => one.type === 'ScalingActive' && one.status === 'True') ?? false;

/** None does less than a third of what each would at best. */
const isFair = (share: readonly number[]) =>
  share.every((count) => count > share.reduce((sum, each) => sum + each, 0) / share.length / 3);

/** What each component logs once for each piece of its work. */
const workMessage: Readonly<Record<Component, string>> = {
  gateway: 'request',
  identity: 'tokens issued',
  'design-catalog': 'events listed',
};

/** How much each pod of each component does of sixty lists, and of what partners ask meanwhile. */
async function sharesOf({ kube, stack }: Pick<Production, 'kube' | 'stack'>) {
  const since = new Date();
  await listEvents(stack, 60);
  return Promise.all(
    components.map(async (component) => {
      const logs = (await podsOf(kube, component)).map((pod) => logOf(kube, component, pod, since));
      const wanted = `"message":"${workMessage[component]}"`;
      return (await Promise.all(logs)).map((lines) => lines.filter((line) => line.includes(wanted)).length);
    }),
  );
}

/** So many at once. */
export async function listEvents(stack: Production['stack'], count: number): Promise<void> {
  const caller = await openCaller(stack);
  const { access_token } = await caller.newTokens();
  const lists = Array.from({ length: count }, () => caller.events(access_token));
  for (const { status } of await Promise.all(lists)) expect(status).toBe(200);
}

/** Helm asks the cluster, and names it at once; no pod changes. */
export async function upgradeWithoutSecret({ kube, helmWords }: Production): Promise<void> {
  const before = await podNames(kube);
  const name = 'course-exchange-redis-of-tomorrow';
  const lacking = [...helmWords, `--set=redis.existingSecret=${name}`];
  const refused = await kube.tryHelm('upgrade', ...lacking, '--wait', '--timeout=8m');
  expect(refused.code).not.toBe(0);
  const sentence = `Secret ${name} is missing in namespace ${kube.namespace}: create it with password`;
  expect(refused.errors).toContain(sentence);
  // What renders without a cluster asks nothing.
  for (const render of [['template'], ['upgrade', '--dry-run=client']])
    expect(await kube.helm(...render, ...lacking)).toContain(`name: ${name}`);
  expect(await podNames(kube)).toEqual(before);
}

/** A fault of each service: both are told before either migrates, no pod changes, and prepare.sh makes the Secrets anew. */
export async function upgradeWithWrongPasswords({ kube, helmWords, prepare }: Production): Promise<void> {
  const before = await podNames(kube);
  const accounts = ['identity', 'catalog'].map((name) => `course-exchange-${name}-migrator`);
  await kube.apply(...accounts.map((account) => secret(account, { password: 'not the password' })));
  const failed = await kube.tryHelm('upgrade', ...helmWords, '--wait', '--timeout=3m');
  expect(failed.errors).toMatch(/pre-upgrade hooks failed/);
  // Containers that never started have no log, which kubectl takes for a failure.
  const words = ['logs', `job/${release}-migrations`, '--all-containers', '--ignore-errors'];
  const lines = (await kube.tryKubectl(words)).output.split('\n');
  const said = lines.filter((line) => line.includes('"check failed"'));
  expect(said.map((line) => /(identity|catalog)_migrator/.exec(line)?.[1]).sort()).toEqual([
    'catalog',
    'identity',
  ]);
  expect(await podNames(kube)).toEqual(before);
  await kube.kubectl('delete', 'secret', ...accounts);
  const made = (await prepare()).split('\n').filter((line) => line.endsWith(' created'));
  expect(made).toEqual(accounts.map((account) => `secret/${account} created`));
}
