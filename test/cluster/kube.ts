// The cluster, as variables of test/README.md name it, and kubectl and helm as programs, in one namespace. A call that fails
// rejects with the words of the program; what did not reach the API server, or the node behind it, is asked again.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Outcome, startProcess } from '../support/process.ts';

const environment = process.env;

/** The programs, which find the cluster by KUBECONFIG. */
export const kubectlProgram = environment.KUBECTL ?? 'kubectl';
export const helmProgram = environment.HELM ?? 'helm';

export const release = 'course-exchange';

export const imagePrefix = environment.IMAGE_PREFIX ?? 'course-exchange';
export const imageTag = environment.IMAGE_TAG ?? 'test';

export const postgresImage = environment.POSTGRES_IMAGE ?? 'postgres:18';
export const redisImage = environment.REDIS_IMAGE ?? 'redis:8';

export const ingressClass = environment.INGRESS_CLASS ?? '';
export const ingressAddress = environment.INGRESS_ADDRESS ?? '';
export const ingressNamespaceName = environment.INGRESS_NAMESPACE ?? '';

/** Ends the names of this run's namespaces. */
export const runName = environment.CLUSTER_RUN_NAME ?? 'run';
export const namespaceOf = (name: string) => `course-exchange-test-${runName}-${name}`;
export const runLabel = 'course-exchange.test/run';

export type Kube = ReturnType<typeof kubeIn>;

/** How long vi.waitFor looks. A look that fails is one that saw nothing yet. */
export const waiting = { timeout: 120_000, interval: 500 };

/** No connection, none to the kubelet, or a server that had no time for the call: as a rule nothing of it was done. */
const notReached =
  /^(Unable to connect to the server|The connection to the server .* was refused|error: unable to upgrade connection|Error from server \((Timeout|TooManyRequests|ServiceUnavailable)\)|Error from server: (error dialing backend|etcdserver))/m;

export function kubeIn(namespace: string) {
  const run = (program: string, words: readonly string[], input?: string) =>
    startProcess(program, ['--namespace', namespace, ...words], process.env, input).ended;
  const tryKubectl = async (words: readonly string[], input?: string) => {
    for (let tries = 1; ; tries += 1, await sleep(1_000)) {
      const outcome = await run(kubectlProgram, words, input);
      if (outcome.exit === 0 || tries === 10 || !notReached.test(outcome.err)) return outcome;
    }
  };
  const kubectl = async (...words: readonly string[]) => checked(await tryKubectl(words), words);
  return {
    namespace,
    /** Does not reject. */
    tryKubectl,
    kubectl,
    helm: async (...words: readonly string[]) => checked(await run(helmProgram, words), words),
    apply: async (...objects: readonly object[]): Promise<void> => {
      const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
      const words = ['apply', '--server-side', '--force-conflicts', '--filename=-'];
      checked(await tryKubectl(words, list), words);
    },
  };
}

export function checked({ exit, out, err }: Outcome, words: readonly string[]): string {
  if (exit === 0) return out;
  throw new Error(`${words.join(' ')} ended with ${exit}: ${err.trim()} ${out.trim()}`);
}

/** A namespace of this run that takes pods; Pod Security "restricted" is enforced, or "privileged" for tools. */
export async function makeNamespace(name: string, level: 'restricted' | 'privileged'): Promise<Kube> {
  const kube = kubeIn(namespaceOf(name));
  const labels = { [runLabel]: runName, 'pod-security.kubernetes.io/enforce': level };
  await kube.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: kube.namespace, labels } });
  // A pod is refused before the cluster has made the account that it has by default.
  await kube.kubectl('wait', '--for=create', 'serviceaccount/default', '--timeout=60s');
  return kube;
}
