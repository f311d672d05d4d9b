// What an operator does to a production release while partners use it: upgrade, rollback, scaling, new certificates.
import { expect, vi } from 'vitest';
import { section, shellBlocks } from '../docs/documents.ts';
import { blocksOf } from './guide.ts';
import { type Kube, release, waiting } from './kube.ts';
import { drain, nodes } from './nodes.ts';
import { allReady, type Component, components, podNames, podsOf, readyPods, secret } from './pods.ts';
import { connectionAgeSeconds, type Production, privatePortCertificates, replicas } from './production.ts';

export const [upgrading, rollingBack] = blocksOf('## Upgrade');

/** Every pod is of another version when it is done. */
export async function replacePods({ kube, follow }: Production, block: string | undefined): Promise<void> {
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

/** From one pod of each to three, each of which works. Six that start at once would leave two processors nothing to serve with. */
export async function scale({ kube, follow }: Production): Promise<void> {
  for (const count of [1, 2, 3]) {
    const deployments = components.map((component) => `deployment/${release}-${component}`);
    await kube.kubectl('scale', ...deployments, `--replicas=${count}`);
    await allReady(kube, count);
  }
  await untilLogged(kube, new Date(), workMessages, connectionAgeSeconds + 15);
  await follow(rollingBack);
  await allReady(kube, replicas);
}

/** All pods go to the other nodes, and stay there. */
export async function drainNode({ kube }: Production): Promise<void> {
  await drain(`app.kubernetes.io/instance=${release}`);
  await allReady(kube, replicas);
}

const [spreading] = shellBlocks(section('docs/operate.md', '## When something is down'), 'text');

/** As after a drain: each node has a pod of each component then. */
export async function spread(production: Production): Promise<void> {
  await replacePods(production, spreading);
  for (const component of components) {
    const taken = (await podsOf(production.kube, component)).map(({ node }) => node);
    expect([component, new Set(taken).size]).toEqual([component, Math.min(replicas, nodes.length)]);
  }
}

type Messages = Readonly<Record<Component, readonly string[]>>;

/** What each component logs once for each piece of its work. */
const workMessages: Messages = {
  gateway: ['"request"'],
  identity: ['"tokens issued"'],
  'design-catalog': ['"events listed"'],
};

const untilLogged = (kube: Kube, since: Date, messages: Messages, seconds: number) =>
  vi.waitFor(
    async () => {
      for (const component of components)
        for (const { name } of await podsOf(kube, component)) {
          const words = [`--container=${component}`, `--since-time=${since.toISOString()}`];
          const log = await kube.kubectl('logs', name, ...words);
          for (const message of messages[component]) expect(log).toMatch(new RegExp(message));
        }
    },
    { ...waiting, timeout: 1_000 * seconds },
  );

/** A fault of each service: both are reported before either migrates, no pod changes, and prepare.sh recreates the Secrets. */
export async function upgradeWithWrongPasswords({ kube, helmWords, prepare }: Production): Promise<void> {
  const before = await podNames(kube);
  const accounts = ['identity', 'catalog'].map((name) => `course-exchange-${name}-migrator`);
  await kube.apply(...accounts.map((account) => secret(account, { password: 'not the password' })));
  const upgraded = kube.helm('upgrade', ...helmWords, '--wait', '--timeout=3m');
  await expect(upgraded).rejects.toThrow('pre-upgrade hooks failed');
  // Containers that never started have no log, which kubectl takes for a failure.
  const words = ['logs', `job/${release}-migrations`, '--all-containers', '--ignore-errors'];
  const lines = (await kube.tryKubectl(words)).out.split('\n');
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

const renewed = (...settings: readonly string[]) =>
  settings.map((setting) => `"${setting}".*"certificates renewed"`);
const renewals: Messages = {
  gateway: renewed('RPC_TLS_DIRECTORY'),
  identity: renewed('RPC_TLS_DIRECTORY', 'OPERATOR_TLS_CERT'),
  'design-catalog': renewed('RPC_TLS_DIRECTORY', 'FEED_TLS_CERT'),
};

/** The certificates of all ports: each pod says that it took them up, and none restarts. */
export async function renewCertificates({ kube, prepare }: Production): Promise<void> {
  const [before, begun] = [await podNames(kube), new Date()];
  await kube.kubectl('delete', 'secret', ...components.map((name) => `course-exchange-${name}-tls`));
  await kube.apply(...(await privatePortCertificates()));
  const made = (await prepare()).match(/^secret\/.* created$/gm);
  expect(made).toHaveLength(components.length);
  const pods = ['pods', `--selector=app.kubernetes.io/instance=${release}`];
  // A kubelet brings changed files into a pod at once when its object changes. One of the fault before may go in this moment.
  const touch = ['annotate', ...pods, '--overwrite', `course-exchange.test/delivered=${Date.now()}`];
  await vi.waitFor(() => kube.kubectl(...touch), waiting);
  await untilLogged(kube, begun, renewals, 120);
  expect(await podNames(kube)).toEqual(before);
}
