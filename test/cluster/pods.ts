// Pods of a release: which there are, and whether they are ready. Pods beside it, as an operator brings them: stores, what
// observes a release, and a stranger.
import { expect, vi } from 'vitest';
import { type Kube, release, waiting } from './kube.ts';
import { firstNode } from './nodes.ts';

export const components = ['gateway', 'identity', 'design-catalog'] as const;
export type Component = (typeof components)[number];

export type Pod = Awaited<ReturnType<typeof podsWith>>[number];

const columns = [
  'NAME:.metadata.name',
  'UID:.metadata.uid',
  'ADDRESS:.status.podIP',
  'NODE:.spec.nodeName',
  'READY:.status.conditions[?(@.type=="Ready")].status',
  'SINCE:.status.conditions[?(@.type=="Ready")].lastTransitionTime',
  'RESTARTS:.status.containerStatuses[0].restartCount',
  'LEAVES:.metadata.deletionTimestamp',
].join();

/** Without those that are on their way out. */
export async function podsWith(kube: Kube, labels: string) {
  const words = [`--selector=${labels}`, '--no-headers', `--output=custom-columns=${columns}`];
  const rows = (await kube.kubectl('get', 'pods', ...words)).trimEnd().split('\n');
  return rows
    .map((row) => row.split(/ +/))
    .filter(([, , , , , , , leaves]) => leaves === '<none>')
    .map(([name = '', uid = '', address = '', node = '', ready, since, restarts]) => ({
      ...{ name, uid, address, node },
      ready: ready === 'True',
      since,
      restarts: Number(restarts) || 0,
    }));
}

export const podsOf = (kube: Kube, component: Component) =>
  podsWith(kube, `app.kubernetes.io/instance=${release},app.kubernetes.io/component=${component}`);

export async function allPods(kube: Kube): Promise<readonly Pod[]> {
  return (await Promise.all(components.map((component) => podsOf(kube, component)))).flat();
}

export async function podNames(kube: Kube): Promise<readonly string[]> {
  return (await allPods(kube)).map(({ name, restarts }) => `${name} ${restarts}`).sort();
}

export const readyPods = (kube: Kube, component: Component, count: number): Promise<readonly Pod[]> =>
  vi.waitFor(async () => {
    const pods = await podsOf(kube, component);
    expect(pods.map(({ ready }) => ready)).toEqual(Array(count).fill(true));
    return pods;
  }, waiting);

export async function allReady(kube: Kube, count: number): Promise<void> {
  for (const component of components) {
    await kube.kubectl('rollout', 'status', `deployment/${release}-${component}`, '--timeout=180s');
    await readyPods(kube, component, count);
  }
}

/** Resolves when a Job has completed; rejects as soon as it has failed, or has not ended in time, with what its pod is doing. */
export async function completed(kube: Kube, job: string): Promise<void> {
  const conditions = () => kube.kubectl('get', 'job', job, '--output=jsonpath={.status.conditions[*].type}');
  const ended = await vi
    .waitUntil(async () => /Complete|Failed/.exec(await conditions())?.[0], waiting)
    .catch(() => 'did not end in time');
  if (ended === 'Complete') return;
  const pods = await kube.kubectl('describe', 'pods', `--selector=job-name=${job}`);
  const { out } = await kube.tryKubectl(['logs', `job/${job}`]);
  throw new Error(`The Job ${job}: ${ended}\n${out}\n${pods.slice(-1_500)}`);
}

/** A pod beside a release. */
interface Program {
  readonly image: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** By name, below /etc/program. */
  readonly files?: Readonly<Record<string, string>>;
  /** It is ready when it listens there; a Service of its name leads to it. */
  readonly port?: number;
  readonly user?: number;
  /** Folders beside /tmp that can be written; they lie in memory: a node's disk that images and etcd share would be measured. */
  readonly folders?: readonly string[];
  /** It runs on this node, not the first, as root, and may send signals to all of the node's processes. */
  readonly seesNode?: string;
}

export function secret(name: string, stringData: Readonly<Record<string, string>>) {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData };
}

export async function startProgram(kube: Kube, name: string, program: Program): Promise<void> {
  const { files = {}, port } = program;
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name },
    spec: { selector: { app: name }, ports: [{ port }] },
  };
  await kube.apply(
    secret(`${name}-files`, files),
    podOf(name, program),
    ...(port === undefined ? [] : [service]),
  );
  await kube.kubectl('wait', `pod/${name}`, '--for=condition=Ready', '--timeout=120s');
}

function podOf(name: string, program: Program) {
  const { image, args, env = {}, port, folders = [], seesNode } = program;
  const { user = seesNode === undefined ? 65532 : 0 } = program;
  const paths = ['/tmp', ...folders];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app: name } },
    spec: {
      nodeName: seesNode ?? firstNode,
      hostPID: seesNode !== undefined,
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 1,
      securityContext: {
        runAsNonRoot: user > 0,
        runAsUser: user,
        runAsGroup: user,
        fsGroup: user,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      containers: [
        {
          name,
          image,
          imagePullPolicy: 'IfNotPresent',
          args,
          env: Object.entries(env).map(([key, value]) => ({ name: key, value })),
          resources: { requests: { cpu: '20m', memory: '32Mi' } },
          // No probe after the start: one that comes late on a busy node would take the program from its Service.
          ...(port && {
            startupProbe: { tcpSocket: { port }, periodSeconds: 1, timeoutSeconds: 5, failureThreshold: 90 },
          }),
          securityContext: {
            allowPrivilegeEscalation: false,
            capabilities: { drop: ['ALL'], ...(user === 0 && { add: ['KILL', 'SYS_PTRACE'] }) },
          },
          volumeMounts: [
            { name: 'files', mountPath: '/etc/program' },
            ...paths.map((mountPath, index) => ({ name: `folder-${index}`, mountPath })),
          ],
        },
      ],
      volumes: [
        // Postgres takes a key of root that its own group alone may read.
        { name: 'files', secret: { secretName: `${name}-files`, defaultMode: 0o440 } },
        ...paths.map((_, index) => ({ name: `folder-${index}`, emptyDir: { medium: 'Memory' } })),
      ],
    },
  };
}
