// Who reaches whom: TCP connections tried from inside pods, and from a stranger in the release's namespace.
import type { Kube, KubeObject } from './kube.ts';
import { runInside } from './pods.ts';
import { imagePrefix, imageTag } from './settings.ts';

export const stranger = 'stranger';

const script = `
  const net = require('node:net');
  const attempt = (target) => new Promise((resolve) => {
    const at = target.lastIndexOf(':');
    const socket = net.connect({ host: target.slice(0, at), port: Number(target.slice(at + 1)), timeout: 2500 });
    const end = (said) => { socket.destroy(); resolve([target, said]); };
    socket.once('connect', () => end('open')).once('timeout', () => end('silent')).once('error', (error) => end(error.code));
  });
  Promise.all(process.argv.slice(1).map(attempt)).then((said) => console.log(JSON.stringify(Object.fromEntries(said))));`;

/** For each `host:port`: `open`, `silent` (no answer within 2.5 s), or the code of the refusal. */
export async function tryConnections(
  kube: Kube,
  pod: string,
  container: string,
  targets: readonly string[],
): Promise<Readonly<Record<string, string>>> {
  return JSON.parse(await runInside(kube, pod, container, script, ...targets)) as Record<string, string>;
}

/** A pod of nobody's, as anything else in the namespace might be. */
export async function startStranger(kube: Kube): Promise<void> {
  await kube.apply(strangerPod);
  await kube.kubectl('wait', `pod/${stranger}`, '--for=condition=Ready', '--timeout=60s');
}

const strangerPod: KubeObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: stranger },
  spec: {
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 1,
    securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [
      {
        name: stranger,
        image: `${imagePrefix}/gateway:${imageTag}`,
        imagePullPolicy: 'IfNotPresent',
        args: ['--eval', 'setInterval(() => {}, 60_000)'],
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
      },
    ],
  },
};
