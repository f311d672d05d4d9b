// Signals to a process of a pod from outside of it. No process can send SIGKILL to the first one of its own namespace, and
// `kubectl delete --force` still lets a process say goodbye: a pod that sees the node's processes sends it.
import { type Kube, type KubeObject, makeNamespace } from './kube.ts';
import { type Pod, runInside } from './pods.ts';
import { node as runningNode } from './programs.ts';

/** To the one process in the pod of that uid whose command line contains `program`: by its control group. */
const script = `
  const { readdirSync, readFileSync } = require('node:fs');
  const [uid, program, signal] = process.argv.slice(1);
  const text = (pid, name) => { try { return readFileSync('/proc/' + pid + '/' + name, 'utf8'); } catch { return ''; } };
  const inPod = (pid) => { const at = text(pid, 'cgroup'); return at.includes(uid) || at.includes(uid.replaceAll('-', '_')); };
  const pids = readdirSync('/proc').filter((name) => /^\\d+$/.test(name) && inPod(name) && text(name, 'cmdline').includes(program));
  if (pids.length !== 1) { console.error('found ' + pids.length + ' processes'); process.exit(1); }
  process.kill(Number(pids[0]), signal);`;

export type Signal = 'SIGKILL' | 'SIGSTOP' | 'SIGCONT';

/** Resolves when there is a sender on each of the pods' nodes. */
export async function openSignals(pods: readonly Pod[]) {
  const tools = await makeNamespace('tools', 'privileged');
  const nodes = [...new Set(pods.map(({ node }) => node))];
  await tools.apply(...nodes.map(sender));
  await Promise.all(
    nodes.map((node) =>
      tools.kubectl('wait', `pod/${nameOn(node)}`, '--for=condition=Ready', '--timeout=60s'),
    ),
  );
  return send(tools);
}

const send =
  (tools: Kube) =>
  /** Resolves when it was sent. */
  async ({ node, uid }: Pod, signal: Signal, program = '/app/services/'): Promise<void> => {
    await runInside(tools, nameOn(node), 'node', script, uid, program, signal);
  };

const nameOn = (node: string) => `signals-${node}`;

const sender = (node: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: nameOn(node) },
  spec: {
    nodeName: node,
    hostPID: true,
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 1,
    containers: [
      {
        name: 'node',
        ...runningNode('setInterval(() => {}, 60_000)'),
        imagePullPolicy: 'IfNotPresent',
        securityContext: { runAsUser: 0, capabilities: { drop: ['ALL'], add: ['KILL', 'SYS_PTRACE'] } },
      },
    ],
  },
});
