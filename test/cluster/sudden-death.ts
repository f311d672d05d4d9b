// SIGKILL of a pod's process. No process can send it to the first one of its own namespace, and `kubectl delete --force`
// still lets a process say goodbye: so a pod that sees the node's processes sends it, from a namespace of its own.
import type { Kube, KubeObject } from './kube.ts';
import type { Pod } from './pods.ts';
import { imagePrefix, imageTag } from './settings.ts';

/** The product's process in the pod whose uid is the argument: by its control group and its program. */
const script = `
  const { readdirSync, readFileSync } = require('node:fs');
  const uid = process.argv[1];
  const text = (pid, name) => { try { return readFileSync('/proc/' + pid + '/' + name, 'utf8'); } catch { return ''; } };
  const inPod = (pid) => { const at = text(pid, 'cgroup'); return at.includes(uid) || at.includes(uid.replaceAll('-', '_')); };
  const pids = readdirSync('/proc').filter((name) => /^\\d+$/.test(name) && inPod(name) && text(name, 'cmdline').includes('/app/services/'));
  if (pids.length !== 1) { console.error('found ' + pids.length + ' processes'); process.exit(1); }
  process.kill(Number(pids[0]), 'SIGKILL');
  console.log(new Date().toISOString());`;

/** `tools` is a namespace that admits privileged pods. Gives the moment of the death. */
export async function killProcess(tools: Kube, pod: Pod): Promise<Date> {
  const name = `sigkill-${pod.uid.slice(0, 8)}-${pod.restarts}`;
  await tools.apply(killer(name, pod));
  await tools.kubectl('wait', `pod/${name}`, '--for=jsonpath={.status.phase}=Succeeded', '--timeout=30s');
  const said = await tools.kubectl('logs', name);
  await tools.kubectl('delete', 'pod', name, '--wait=false');
  return new Date(said.trim());
}

function killer(name: string, { node, uid }: Pod): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      nodeName: node,
      hostPID: true,
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      containers: [
        {
          name: 'sigkill',
          image: `${imagePrefix}/gateway:${imageTag}`,
          imagePullPolicy: 'IfNotPresent',
          securityContext: { runAsUser: 0, capabilities: { drop: ['ALL'], add: ['KILL', 'SYS_PTRACE'] } },
          args: ['--eval', script, uid],
        },
      ],
    },
  };
}
