// What an operator does to a release while partners go on. Each resolves when it is done, and rejects where it did something
// else than it should.
import { expect } from 'vitest';
import { openCaller } from '../support/caller.ts';
import { blocksOf } from './guide.ts';
import { eventually } from './kube.ts';
import { allReady, type Component, components, logOf, podNames, podsOf, readyPods } from './pods.ts';
import { connectionAgeSeconds, type Production, privatePortCertificates, replicas } from './production.ts';
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

/** From one pod of each to three; each of them works. */
export async function scale({ kube, stack, follow }: Production): Promise<void> {
  for (const count of [1, 3]) {
    const deployments = components.map((component) => `deployment/${release}-${component}`);
    await kube.kubectl('scale', ...deployments, `--replicas=${count}`);
    await allReady(kube, count);
  }
  const shares = await eventually(
    () => sharesOf({ kube, stack }),
    (each) => each.every(isFair),
    spreadSeconds,
  );
  console.log(`figure: pieces of work of each of three pods: ${JSON.stringify(shares)}`);
  await follow(rollingBack);
  await allReady(kube, replicas);
}

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
  const caller = await openCaller(stack);
  const { access_token } = await caller.newTokens();
  const lists = await Promise.all(Array.from({ length: 60 }, () => caller.events(access_token)));
  for (const { status } of lists) expect(status).toBe(200);
  return Promise.all(
    components.map(async (component) => {
      const logs = (await podsOf(kube, component)).map((pod) => logOf(kube, component, pod, since));
      const wanted = `"message":"${workMessage[component]}"`;
      return (await Promise.all(logs)).map((lines) => lines.filter((line) => line.includes(wanted)).length);
    }),
  );
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

/** By the setting that names its certificates, as the log line does. */
const followed: Readonly<Record<Component, readonly string[]>> = {
  gateway: ['RPC_TLS_DIRECTORY'],
  identity: ['RPC_TLS_DIRECTORY', 'OPERATOR_TLS_CERT'],
  'design-catalog': ['RPC_TLS_DIRECTORY', 'FEED_TLS_CERT'],
};

/** Of all ports: each pod says that it took them up, and none restarts. */
export async function renewCertificates({ kube, prepare }: Production): Promise<void> {
  const [before, begun] = [await podNames(kube), new Date()];
  await kube.kubectl('delete', 'secret', ...components.map((name) => `course-exchange-${name}-tls`));
  await kube.apply(...(await privatePortCertificates()));
  const made = (await prepare()).match(/^secret\/.* created$/gm);
  expect(made).toHaveLength(components.length);
  const pods = ['pods', `--selector=app.kubernetes.io/instance=${release}`];
  // A kubelet brings changed files into a pod at once when its object changes. One of the fault before may go in this moment.
  await eventually(
    () => kube.kubectl('annotate', ...pods, '--overwrite', `course-exchange.test/delivered=${Date.now()}`),
    () => true,
  );
  const isRenewal = (line: string) => line.includes('"message":"certificates renewed"');
  for (const component of components)
    for (const pod of await podsOf(kube, component))
      await eventually(
        async () => (await logOf(kube, component, pod, begun)).filter(isRenewal).join(),
        (lines) => followed[component].every((name) => lines.includes(`"${name}"`)),
      );
  expect(await podNames(kube)).toEqual(before);
}
