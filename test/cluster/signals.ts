// Signals to a process of a pod from outside of it: SIGKILL, or SIGSTOP for some seconds.
import { makeNamespace } from './environment.ts';
import type { KubeObject } from './kube.ts';
import type { Pod } from './pods.ts';
import { imagePrefix, imageTag } from './settings.ts';

/**
 * The one process in the pod of that uid whose command line contains `program`: by its control group. No process can send
 * SIGKILL to the first one of its own namespace, and `kubectl delete --force` still lets a process say goodbye: so a pod that
 * sees the node's processes sends it, from a namespace of its own. It wakes what it stopped, also where it is ended early.
 */
const script = `
  const { readdirSync, readFileSync } = require('node:fs');
  const [uid, program, seconds] = process.argv.slice(1);
  const text = (pid, name) => { try { return readFileSync('/proc/' + pid + '/' + name, 'utf8'); } catch { return ''; } };
  const inPod = (pid) => { const at = text(pid, 'cgroup'); return at.includes(uid) || at.includes(uid.replaceAll('-', '_')); };
  const pids = readdirSync('/proc').filter((name) => /^\\d+$/.test(name) && inPod(name) && text(name, 'cmdline').includes(program));
  if (pids.length !== 1) { console.error('found ' + pids.length + ' processes'); process.exit(1); }
  const send = (signal) => { process.kill(Number(pids[0]), signal); console.log(new Date().toISOString()); };
  const wake = () => { send('SIGCONT'); process.exit(); };
  send(seconds === '0' ? 'SIGKILL' : 'SIGSTOP');
  if (seconds !== '0') { setTimeout(wake, Number(seconds) * 1000); process.once('SIGTERM', wake); }`;

type Process = Pick<Pod, 'node' | 'uid'> & { readonly program?: string };

/** Gives the moment of the death. */
export async function kill(process: Process): Promise<Date> {
  const [moment] = await signal(process, 0);
  return moment as Date;
}

/** Resolves when it is over, with the moments of SIGSTOP and SIGCONT. */
export async function freeze(process: Process, seconds: number): Promise<readonly [Date, Date]> {
  const [stopped, woken] = await signal(process, seconds);
  return [stopped as Date, woken as Date];
}

async function signal(process: Process, seconds: number): Promise<readonly Date[]> {
  const tools = await makeNamespace('tools', 'privileged');
  const name = `signal-${process.uid.slice(0, 8)}-${Date.now()}`;
  await tools.apply(sender(name, process, seconds));
  const succeeded = '--for=jsonpath={.status.phase}=Succeeded';
  await tools.kubectl('wait', `pod/${name}`, succeeded, `--timeout=${seconds + 60}s`);
  const said = await tools.kubectl('logs', name);
  await tools.kubectl('delete', 'pod', name, '--wait=false');
  return said
    .trim()
    .split('\n')
    .map((moment) => new Date(moment));
}

function sender(
  name: string,
  { node, uid, program = '/app/services/' }: Process,
  seconds: number,
): KubeObject {
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
          name: 'signal',
          image: `${imagePrefix}/gateway:${imageTag}`,
          imagePullPolicy: 'IfNotPresent',
          securityContext: { runAsUser: 0, capabilities: { drop: ['ALL'], add: ['KILL', 'SYS_PTRACE'] } },
          args: ['--eval', script, uid, program, String(seconds)],
        },
      ],
    },
  };
}
