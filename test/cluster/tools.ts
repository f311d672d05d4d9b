// Pods of tools beside a release, as an operator's own: a program of an image, with its configuration.
import type { Kube, KubeObject } from './kube.ts';
import { imagePrefix, imageTag } from './settings.ts';
import { configMap } from './store-manifests.ts';

interface Tool {
  readonly image: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** By name, below /etc/tool; /tmp can be written. */
  readonly files?: Readonly<Record<string, string>>;
  /** Ready when it listens there. */
  readonly port?: number;
}

/** Runs a script for as long as it has something to do. */
export const node = (script: string) => ({
  image: `${imagePrefix}/gateway:${imageTag}`,
  args: ['--eval', script],
});

/** Resolves when its pod, labelled `app`, is ready. */
export async function startTool(kube: Kube, name: string, tool: Tool): Promise<void> {
  await kube.apply(configMap(name, tool.files ?? {}), podOf(name, tool));
  await kube.kubectl('wait', `pod/${name}`, '--for=condition=Ready', '--timeout=120s');
}

function podOf(name: string, tool: Tool): KubeObject {
  const { image, args, env = {}, port } = tool;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app: name } },
    spec: {
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 1,
      securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name,
          image,
          imagePullPolicy: 'IfNotPresent',
          args,
          env: Object.entries(env).map(([name, value]) => ({ name, value })),
          resources: { requests: { cpu: '10m', memory: '32Mi' } },
          ...(port ? { readinessProbe: { tcpSocket: { port }, periodSeconds: 1, timeoutSeconds: 5 } } : {}),
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
          volumeMounts: [
            { name: 'files', mountPath: '/etc/tool' },
            { name: 'scratch', mountPath: '/tmp' },
          ],
        },
      ],
      volumes: [
        { name: 'files', configMap: { name } },
        { name: 'scratch', emptyDir: {} },
      ],
    },
  };
}
