// A production release on a cluster as a target: two pods of each component behind the cluster's ingress.
import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, vi } from 'vitest';
import { blocksOf } from '../../cluster/guide.ts';
import { type Kube, makeNamespace, release, waiting } from '../../cluster/kube.ts';
import {
  allPods,
  allReady,
  type Component,
  components,
  idle,
  type Pod,
  podNames,
  podsOf,
  readyPods,
  runInside,
  secret,
  startProgram,
} from '../../cluster/pods.ts';
import {
  connectionAgeSeconds,
  type Production,
  privatePortCertificates,
  replicas,
} from '../../cluster/production.ts';
import type { PartName } from '../table.ts';
import type { Target, Undo } from '../workload.ts';

export async function startOnCluster(production: Production): Promise<Target> {
  const { kube, stack, partnerctl } = production;
  const signal = await openSignals(await allPods(kube));

  const ready = async (component: Component, { name, restarts }: Pick<Pod, 'name' | 'restarts'>) => {
    const restarted = expect.objectContaining({ name, restarts });
    await vi.waitFor(async () => expect(await podsOf(kube, component)).toContainEqual(restarted), waiting);
    await readyPods(kube, component, replicas);
  };
  const oneOf = async (component: Component) => (await readyPods(kube, component, replicas))[0] as Pod;
  const kill = async (part: PartName): Promise<Undo> => {
    const pod = await oneOf(part as Component);
    await signal(pod, 'SIGKILL');
    return () => ready(part as Component, { name: pod.name, restarts: pod.restarts + 1 });
  };
  const freeze = async (part: PartName): Promise<Undo> => {
    const pod = await oneOf(part as Component);
    await signal(pod, 'SIGSTOP');
    return async () => {
      await signal(pod, 'SIGCONT');
      await ready(part as Component, pod);
    };
  };
  /** What an operator does while partners go on. It ends by itself: how long it takes counts as the end. */
  const change = (make: (on: Production) => Promise<void>) => async (): Promise<Undo> => () =>
    make(production);
  /** Six processes spin on this machine: where the cluster's node is the same one, its pods get little time. */
  const spin = async (): Promise<Undo> => {
    const before = await allPods(kube);
    const spinners = Array.from({ length: 6 }, () => spawn(process.execPath, ['--eval', spinning]));
    return async () => {
      for (const one of spinners) one.kill('SIGKILL');
      expect(await allPods(kube)).toEqual(before);
    };
  };
  const faults: Target['faults'] = {
    killed: kill,
    frozen: freeze,
    busy: spin,
    upgraded: change((on) => replacePods(on, upgrading)),
    'upgraded with wrong passwords': change(upgradeWithWrongPasswords),
    'rolled back': change((on) => replacePods(on, rollingBack)),
    scaled: change(scale),
    'robbed of a pod of each': change(deletePods),
    'certified anew': change(renewCertificates),
  };
  return {
    stack,
    // The node's processors are the workload's, too.
    families: [4, 1],
    faults,
    withdraw: async ({ email }, clientId) => {
      const words = ['consent', 'withdraw', '--user', email, '--client', clientId, '--yes'];
      const late = sleep(withdrawalMs).then(() => expect.unreachable('the withdrawal is late'));
      await Promise.race([partnerctl(...words), late]);
    },
  };
}

/** It ends by itself where nothing ends it. */
const spinning = 'for (const end = Date.now() + 120_000; Date.now() < end; );';
/** A process hangs in whose pod the tool may run. */
const withdrawalMs = 10_000;

type Signal = 'SIGKILL' | 'SIGSTOP' | 'SIGCONT';

/**
 * Resolves with what sends one to a process of a pod from outside of it: no process can send SIGKILL to the first one of its
 * own namespace, and `kubectl delete --force` still lets a process say goodbye. A pod on each node sees its processes.
 */
async function openSignals(pods: readonly Pod[]) {
  const tools = await makeNamespace('tools', 'privileged');
  const nodes = new Set(pods.map(({ node }) => node));
  await Promise.all([...nodes].map((node) => startProgram(tools, nameOn(node), { ...idle, seesNode: node })));
  return ({ node, uid }: Pod, signal: Signal) =>
    runInside(tools, nameOn(node), nameOn(node), script, uid, signal);
}

const nameOn = (node: string) => `signals-${node}`;

/** To the one process of ours in the pod of that uid: by its control group. */
const script = `
  const { readdirSync, readFileSync } = require('node:fs');
  const [uid, signal] = process.argv.slice(1);
  const text = (pid, name) => { try { return readFileSync('/proc/' + pid + '/' + name, 'utf8'); } catch { return ''; } };
  const inPod = (pid) => { const at = text(pid, 'cgroup'); return at.includes(uid) || at.includes(uid.replaceAll('-', '_')); };
  const pids = readdirSync('/proc').filter((name) => /^\\d+$/.test(name) && inPod(name) && text(name, 'cmdline').includes('/app/services/'));
  if (pids.length !== 1) { console.error('found ' + pids.length + ' processes'); process.exit(1); }
  process.kill(Number(pids[0]), signal);`;

const [upgrading, rollingBack] = blocksOf('## Upgrade');

/** Every pod is of another version when it is done. */
async function replacePods({ kube, follow }: Production, block: string | undefined): Promise<void> {
  const before = await podNames(kube);
  await follow(block);
  await allReady(kube, replicas);
  expect((await podNames(kube)).filter((name) => before.includes(name))).toEqual([]);
}

/** One after the other, each when the one before has its successor. */
async function deletePods({ kube }: Production): Promise<void> {
  for (const component of components) {
    const [pod] = await podsOf(kube, component);
    await kube.kubectl('delete', 'pod', `${pod?.name}`, '--wait=false');
    await readyPods(kube, component, replicas);
  }
}

/** From one pod of each to three; each of them works. */
async function scale({ kube, follow }: Production): Promise<void> {
  for (const count of [1, 3]) {
    const deployments = components.map((component) => `deployment/${release}-${component}`);
    await kube.kubectl('scale', ...deployments, `--replicas=${count}`);
    await allReady(kube, count);
  }
  await untilLogged(kube, new Date(), workMessages, connectionAgeSeconds + 15);
  await follow(rollingBack);
  await allReady(kube, replicas);
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
async function upgradeWithWrongPasswords({ kube, helmWords, prepare }: Production): Promise<void> {
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

/** Of all ports: each pod says that it took them up, and none restarts. */
async function renewCertificates({ kube, prepare }: Production): Promise<void> {
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
