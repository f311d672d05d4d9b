// Signals to a process of a pod from outside of it. No process can send SIGKILL to the first one of its own namespace, and
// `kubectl delete --force` still lets a process say goodbye: a pod that sees the node's processes sends it.
import { makeNamespace } from './kube.ts';
import { type Pod, runInside } from './pods.ts';
import { idle, startProgram } from './programs.ts';

/** To the one process of ours in the pod of that uid: by its control group. */
const script = `
  const { readdirSync, readFileSync } = require('node:fs');
  const [uid, signal] = process.argv.slice(1);
  const text = (pid, name) => { try { return readFileSync('/proc/' + pid + '/' + name, 'utf8'); } catch { return ''; } };
  const inPod = (pid) => { const at = text(pid, 'cgroup'); return at.includes(uid) || at.includes(uid.replaceAll('-', '_')); };
  const pids = readdirSync('/proc').filter((name) => /^\\d+$/.test(name) && inPod(name) && text(name, 'cmdline').includes('/app/services/'));
  if (pids.length !== 1) { console.error('found ' + pids.length + ' processes'); process.exit(1); }
  process.kill(Number(pids[0]), signal);`;

type Signal = 'SIGKILL' | 'SIGSTOP' | 'SIGCONT';

/** Resolves with what sends one, when there is a sender on each of the pods' nodes. */
export async function openSignals(pods: readonly Pod[]) {
  const tools = await makeNamespace('tools', 'privileged');
  const nodes = new Set(pods.map(({ node }) => node));
  await Promise.all([...nodes].map((node) => startProgram(tools, nameOn(node), { ...idle, seesNode: node })));
  return ({ node, uid }: Pod, signal: Signal) =>
    runInside(tools, nameOn(node), nameOn(node), script, uid, signal);
}

const nameOn = (node: string) => `signals-${node}`;
