// kubectl and helm as programs, in one namespace. Each call that fails rejects with the words of the program.
import { spawn } from 'node:child_process';
import { helmProgram, kubectlProgram } from './settings.ts';

interface Outcome {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

export type KubeObject = { readonly kind: string; readonly metadata: { readonly name: string } } & Record<
  string,
  unknown
>;

export interface Kube {
  readonly namespace: string;
  readonly kubectl: (...words: readonly string[]) => Promise<string>;
  /** Does not reject. */
  readonly tryKubectl: (words: readonly string[], input?: string) => Promise<Outcome>;
  readonly helm: (...words: readonly string[]) => Promise<string>;
  /** Does not reject. */
  readonly tryHelm: (...words: readonly string[]) => Promise<Outcome>;
  readonly get: <T>(...words: readonly string[]) => Promise<T>;
  readonly apply: (...objects: readonly KubeObject[]) => Promise<void>;
}

export function kubeIn(namespace: string): Kube {
  const tryKubectl = (words: readonly string[], input?: string) =>
    run(kubectlProgram, ['--namespace', namespace, ...words], input);
  const tryHelm = (...words: readonly string[]) => run(helmProgram, ['--namespace', namespace, ...words]);
  const kubectl = async (...words: readonly string[]) => checked(await tryKubectl(words), 'kubectl', words);
  return {
    namespace,
    tryKubectl,
    tryHelm,
    kubectl,
    helm: async (...words) => checked(await tryHelm(...words), 'helm', words),
    get: async <T>(...words: readonly string[]) =>
      JSON.parse(await kubectl('get', ...words, '--output=json')) as T,
    apply: async (...objects) => {
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
function run(program: string, words: readonly string[], input?: string): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, words, { stdio: ['pipe', 'pipe', 'pipe'], timeout: 600_000 });
    const chunks: Record<'output' | 'errors', Buffer[]> = { output: [], errors: [] };
    child.stdout.on('data', (chunk: Buffer) => chunks.output.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => chunks.errors.push(chunk));
    child.once('error', reject);
    child.once('close', (code) => {
      const [output, errors] = [chunks.output, chunks.errors].map((parts) => Buffer.concat(parts).toString());
      resolve({ code: code ?? 130, output: output ?? '', errors: errors ?? '' });
    });
    // A program that ends without reading closes the pipe.
    child.stdin.on('error', () => {});
    child.stdin.end(input ?? '');
  });
}
