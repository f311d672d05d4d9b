// Production on a real cluster, in the order of an environment's life: what it may reach and who may read it, then what is
// done to it under the workload.
import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { privatePorts } from '@course-exchange/rules/private-ports';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { section, shellBlocks } from '../docs/documents.ts';
import { playEachRow } from '../faults/each-row.ts';
import { type PartName, type Row, table } from '../faults/table.ts';
import type { Target, Undo } from '../faults/workload.ts';
import { send } from '../support/http.ts';
import * as changes from './changes.ts';
import { runBlocks } from './guide.ts';
import { imagePrefix, imageTag, type Kube, makeNamespace, release, waiting } from './kube.ts';
import { canCut, cutOff, nodes } from './nodes.ts';
import {
  allPods,
  allReady,
  type Component,
  completed,
  components,
  type Pod,
  podsOf,
  readyPods,
  startProgram,
} from './pods.ts';
import { installProduction, monitoring, type Production, replicas, scraper } from './production.ts';

let installed: Production;

beforeAll(async () => {
  installed = await installProduction();
}, 600_000);

test('no port but the public one is reached, and no route but the public ones', async () => {
  const routes = ['/livez', '/readyz', '/healthz', '/metrics', '/operator'];
  for (const path of [...routes, '/identity.v1.TokenService/ExchangeToken'])
    expect([path, (await send(`${installed.stack.issuer}${path}`)).status]).toEqual([path, 404]);
});

test('the audit log goes to a volume, from which a Job plans the fence as docs/recovery.md says', async () => {
  const { kubectl, namespace } = installed.kube;
  await kubectl('create', 'job', 'first-export', `--from=cronjob/${release}-audit-export`);
  await completed(installed.kube, 'first-export');
  const page = section('docs/recovery.md', '## Postgres comes from a backup');
  const fence = shellBlocks(page, 'text').find((block) => block.startsWith('fence() {')) ?? '';
  expect(await runBlocks([fence], { NAMESPACE: namespace })).toContain('it lacks none of the lines');
}, 240_000);

/** Pods that are not the release's, by the namespace that they run in. */
const strangers = { stranger: 'production', [scraper]: monitoring } as const;
type Stranger = keyof typeof strangers;

const ports: Readonly<Record<Component, readonly number[]>> = {
  gateway: [8080, 8081],
  identity: [7001, 7101, privatePorts.OPERATOR],
  'design-catalog': [7002, 7102, privatePorts.FEED],
};
const stores = ['postgres:5432', 'redis:6379'];

/** `component:port` or a store, by who may connect to it. The kubelet's probes pass anyway. */
const allowed: Readonly<Record<Component | Stranger, readonly string[]>> = {
  gateway: ['identity:7001', 'design-catalog:7002'],
  identity: stores,
  'design-catalog': ['identity:7001', 'postgres:5432'],
  // The stores belong to the operator, whose policies are not the chart's.
  stranger: stores,
  [scraper]: ['gateway:8081', 'identity:7101', 'design-catalog:7102'],
};

const isStranger = (name: string): name is Stranger => name in strangers;

describe.concurrent('by the NetworkPolicies', () => {
  const everybody = Object.keys(allowed) as (Component | Stranger)[];
  test.each(everybody)('%s reaches what it may and nothing else', async (from) => {
    const { kube: own } = installed;
    const kube = isStranger(from) ? await makeNamespace(strangers[from], 'restricted') : own;
    if (isStranger(from)) await startProgram(kube, from, idle);
    const pod = isStranger(from) ? from : `${(await podsOf(kube, from))[0]?.name}`;
    const paths = await pathsFrom(from);
    const open = new Set<string>();
    // On a busy node a path that is allowed may take longer than an attempt; one that is not must never be open.
    await vi.waitFor(async () => {
      const said = await runInside(kube, pod, from, attempts, ...paths);
      for (const path of said.split(/\s/).filter(Boolean)) open.add(path);
      expect([...open].sort()).toEqual([...allowed[from]].sort());
    }, waiting);
  });
});

describe('under the workload', () => {
  const playable = ({ fault }: Row) => nodes.length > 1 && (fault !== 'cut off' || canCut);
  playEachRow([...table.cluster, ...table.ofTwoNodes.filter(playable)], () => startOnCluster(installed));
});

test('the services hold at most 300 MiB after all that', async () => {
  const script = `console.log(/VmRSS:\\s+(\\d+)/.exec(require('node:fs').readFileSync('/proc/1/status', 'utf8'))[1])`;
  for (const component of components)
    for (const { name } of await podsOf(installed.kube, component)) {
      const size = Number(await runInside(installed.kube, name, component, script)) / 1_024;
      console.log(`figure: ${name}: ${Math.round(size)} MiB resident at the end`);
      expect(size).toBeLessThan(300);
    }
});

/** Does nothing; other scripts run beside it. */
const idle = {
  image: `${imagePrefix}/gateway:${imageTag}`,
  args: ['--eval', 'setInterval(() => {}, 60_000)'],
};

function runInside(
  kube: Kube,
  pod: string,
  container: string,
  script: string,
  ...words: readonly string[]
): Promise<string> {
  const node = ['/usr/local/bin/node', '--eval', script, ...words];
  return kube.kubectl('exec', pod, `--container=${container}`, '--', ...node);
}

/** `component:port@address:port` of one pod of each other component, and the stores. */
async function pathsFrom(from: string): Promise<readonly string[]> {
  const others = components.filter((component) => component !== from);
  const found = others.map(async (component) => {
    const [pod] = await podsOf(installed.kube, component);
    return ports[component].map((port) => `${component}:${port}@${pod?.address}:${port}`);
  });
  return [...(await Promise.all(found)).flat(), ...stores.map((store) => `${store}@${store}`)];
}

/** Prints which paths are open: where a connection is made within 2.5 s. */
const attempts = `
  for (const path of process.argv.slice(1)) {
    const [name, host, port] = path.split(/@|:(?=\\d+$)/);
    const socket = require('node:net').connect({ host, port, timeout: 2500 });
    socket.once('connect', () => console.log(name)).once('error', () => {});
    for (const event of ['connect', 'timeout', 'error']) socket.once(event, () => socket.destroy());
  }`;

async function startOnCluster(production: Production): Promise<Target> {
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
    upgraded: change((on) => changes.replacePods(on, changes.upgrading)),
    'upgraded with wrong passwords': change(changes.upgradeWithWrongPasswords),
    'rolled back': change((on) => changes.replacePods(on, changes.rollingBack)),
    scaled: change(changes.scale),
    'with one pod of each deleted': change(changes.deletePods),
    recertified: change(changes.renewCertificates),
    drained: change(changes.drainNode),
    'spread over the nodes': change(changes.spread),
    'cut off': async () => {
      const connect = await cutOff();
      return async () => {
        await connect();
        await allReady(kube, replicas);
      };
    },
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
    runInside(tools, nameOn(node), nameOn(node), signalling, uid, signal);
}

const nameOn = (node: string) => `signals-${node}`;

/** To the one process of ours in the pod of that uid: by its control group. */
const signalling = `
  const { readdirSync, readFileSync } = require('node:fs');
  const [uid, signal] = process.argv.slice(1);
  const text = (pid, name) => { try { return readFileSync('/proc/' + pid + '/' + name, 'utf8'); } catch { return ''; } };
  const inPod = (pid) => { const at = text(pid, 'cgroup'); return at.includes(uid) || at.includes(uid.replaceAll('-', '_')); };
  const pids = readdirSync('/proc').filter((name) => /^\\d+$/.test(name) && inPod(name) && text(name, 'cmdline').includes('/app/services/'));
  if (pids.length !== 1) { console.error('found ' + pids.length + ' processes'); process.exit(1); }
  process.kill(Number(pids[0]), signal);`;
