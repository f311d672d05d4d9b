// A production release on a cluster as a target: two pods of each component behind the cluster's ingress.
import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, vi } from 'vitest';
import * as changes from '../../cluster/changes.ts';
import { makeNamespace, waiting } from '../../cluster/kube.ts';
import { allPods, type Component, type Pod, podsOf, readyPods, runInside } from '../../cluster/pods.ts';
import { type Production, replicas } from '../../cluster/production.ts';
import { idle, startProgram } from '../../cluster/programs.ts';
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
  /** It ends by itself: how long it takes counts as the end. */
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
    upgraded: change(changes.upgrade),
    'upgraded with wrong passwords': change(changes.upgradeWithWrongPasswords),
    'rolled back': change(changes.rollBack),
    scaled: change(changes.scale),
    'robbed of a pod of each': change(changes.deletePods),
    'certified anew': change(changes.renewCertificates),
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
/** A process stands still in whose pod the tool may run. */
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
