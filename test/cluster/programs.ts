// Pods beside a release, as an operator brings them: stores, what observes a release, and a stranger.
import { imagePrefix, imageTag, type Kube } from './kube.ts';

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
  /** It runs on this node as root, and may send signals to all of the node's processes. */
  readonly seesNode?: string;
}

/** Does nothing; other scripts run beside it. */
export const idle: Program = {
  image: `${imagePrefix}/gateway:${imageTag}`,
  args: ['--eval', 'setInterval(() => {}, 60_000)'],
};

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
  const { image, args, env = {}, port, folders = [], seesNode: nodeName } = program;
  const { user = nodeName === undefined ? 65532 : 0 } = program;
  const paths = ['/tmp', ...folders];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app: name } },
    spec: {
      ...(nodeName !== undefined && { nodeName, hostPID: true }),
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
