// kubectl and helm as programs, in one namespace. Each call that fails rejects with the words of the program; what did not
// reach the API server, or the node behind it, is asked again.
import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { helmProgram, kubectlProgram, namespaceOf, runLabel, runName } from './settings.ts';

interface Outcome {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

export type KubeObject = {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
} & Record<string, unknown>;

export type Kube = ReturnType<typeof kubeIn>;

/** No connection, none to the kubelet, or a server that had no time for the call: as a rule nothing of it was done. */
const notReached =
  /^(Unable to connect to the server|The connection to the server .* was refused|error: unable to upgrade connection|Error from server \((Timeout|TooManyRequests|ServiceUnavailable)\)|Error from server: (error dialing backend|etcdserver))/m;

export function kubeIn(namespace: string) {
  const tryKubectl = async (words: readonly string[], input?: string) => {
    for (let tries = 1; ; tries += 1, await sleep(1_000)) {
      const outcome = await run(kubectlProgram, ['--namespace', namespace, ...words], input);
      if (outcome.code === 0 || tries === 10 || !notReached.test(outcome.errors)) return outcome;
    }
  };
  const tryHelm = (...words: readonly string[]) => run(helmProgram, ['--namespace', namespace, ...words]);
  const kubectl = async (...words: readonly string[]) => checked(await tryKubectl(words), 'kubectl', words);
  return {
    namespace,
    /** Does not reject. */
    tryKubectl,
    /** Does not reject. */
    tryHelm,
    kubectl,
    helm: async (...words: readonly string[]) => checked(await tryHelm(...words), 'helm', words),
    get: async <T>(...words: readonly string[]) =>
      JSON.parse(await kubectl('get', ...words, '--output=json')) as T,
    apply: async (...objects: readonly KubeObject[]) => {
      const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
      const words = ['apply', '--server-side', '--force-conflicts', '--filename=-'];
      checked(await tryKubectl(words, list), 'kubectl', words);
    },
  };
}

function checked({ code, output, errors }: Outcome, program: string, words: readonly string[]): string {
  if (code === 0) return output;
  throw new Error(`${program} ${words.join(' ')} ended with ${code}: ${errors.trim() || output.trim()}`);
}

/** Runs a program to its end; `input` goes to its standard input. */
function run(program: string, words: readonly string[], input = ''): Promise<Outcome> {
  return new Promise((resolve) => {
    const options = { timeout: 600_000, maxBuffer: Infinity };
    const child = execFile(program, words, options, (error, output, errors) =>
      resolve({
        code: error ? Number(error.code) || 130 : 0,
        output,
        errors: errors || (error?.message ?? ''),
      }),
    );
    // A program that ends without reading closes the pipe.
    child.stdin?.on('error', () => {}).end(input);
  });
}

/**
 * Resolves with what `look` gives when `wanted` says yes. A look that fails is one that saw nothing yet: a server that has
 * just begun may show a certificate of its own. After `seconds` rejects with the last failure, or what was seen last.
 */
export async function eventually<T>(
  look: () => Promise<T>,
  wanted: (seen: T) => boolean,
  seconds = 120,
): Promise<T> {
  for (const end = performance.now() + seconds * 1_000; ; await sleep(500)) {
    const [seen] = await Promise.allSettled([look()]);
    if (seen.status === 'fulfilled' && wanted(seen.value)) return seen.value;
    if (performance.now() < end) continue;
    throw seen.status === 'rejected'
      ? seen.reason
      : new Error(`Not after ${seconds} s: ${JSON.stringify(seen.value)}`);
  }
}

/** A namespace of this run that takes pods; Pod Security "restricted" is enforced, or "privileged" for tools. */
export async function makeNamespace(name: string, level: 'restricted' | 'privileged'): Promise<Kube> {
  const kube = kubeIn(namespaceOf(name));
  const labels = { [runLabel]: runName, 'pod-security.kubernetes.io/enforce': level };
  await kube.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: kube.namespace, labels } });
  // A pod is refused before the cluster has made the account that it has by default.
  await eventually(
    () => kube.tryKubectl(['get', 'serviceaccount', 'default']),
    ({ code }) => code === 0,
  );
  return kube;
}
