// Runs what docs/install.md tells an operator to run: its blocks, and the script that prepares a namespace. Finds the ingress,
// since no DNS knows the hosts under test.
import { dirname } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { expect, vi } from 'vitest';
import { root } from '../check/step.ts';
import { section, shellBlocks } from '../docs/documents.ts';
import { discover } from '../support/flow.ts';
import { sendThrough } from '../support/http.ts';
import { startProcess } from '../support/process.ts';
import * as kube from './kube.ts';

export const blocksOf = (heading: string) => shellBlocks(section('docs/install.md', heading));

/** What docs/operate.md runs by kubectl: in the pods, and in production on the operator's machine. */
export const [inPods = '', inProduction = ''] = shellBlocks(
  section('docs/operate.md', '## In a cluster'),
  'text',
).map((block) => block.replaceAll('deploy/release-', `deploy/${kube.release}-`));

/** The registration that docs/operate.md shows. */
export const [, registration = ''] =
  /<<'END'\n(.*?)^END$/ms.exec(section('docs/operate.md', '## On-board a partner')) ?? [];

/** Makes $NAMESPACE that of kubectl, for blocks that name none. */
export const enterNamespace = `
kubectl config view --raw --flatten > "$WORK/kubeconfig"
export KUBECONFIG=$WORK/kubeconfig
kubectl config set-context --current --namespace "$NAMESPACE"`;

export async function runBlocks(
  blocks: readonly string[],
  variables: Readonly<Record<string, string>>,
  directory = root,
): Promise<string> {
  const folders = [kube.kubectlProgram, kube.helmProgram]
    .filter((program) => program.includes('/'))
    .map(dirname);
  const env = { ...process.env, ...variables, PATH: [...folders, process.env.PATH].join(':') };
  const words = ['-euo', 'pipefail', '-c', ['exec 2>&1', ...blocks].join('\n')];
  const { exit, out } = await startProcess('bash', words, env, undefined, directory).ended;
  console.log(out);
  if (exit !== 0) throw new Error(`The blocks ended with ${exit}: ${out.trim().slice(-600)}`);
  return out;
}

/** This process trusts the authority of the namespace's ingress from then on. */
export async function trustIngress({ kubectl }: kube.Kube): Promise<void> {
  const template = '--output=go-template={{index .data "ca.crt" | base64decode}}';
  const authority = await kubectl('get', 'secret', 'course-exchange-ingress-tls', template);
  setDefaultCACertificates([...getCACertificates('default'), authority]);
}

export type Ingress = Awaited<ReturnType<typeof findIngress>>;

export async function findIngress({ kubectl }: kube.Kube) {
  const list = async (what: string, path: string, ...words: readonly string[]) =>
    (await kubectl('get', what, `--output=jsonpath={.items[*]${path}}`, ...words)).split(' ').filter(Boolean);
  const nodes = await list('nodes', '.status.addresses[?(@.type=="InternalIP")].address');
  const columns = 'custom-columns=NAMESPACE:.metadata.namespace,NAME:.metadata.name';
  const pods = await kubectl('get', 'pods', '--all-namespaces', '--no-headers', `--output=${columns}`);
  const [, found = ''] = /^(\S+)\s+\S*(?:traefik|ingress|nginx|contour|haproxy)\S*$/m.exec(pods) ?? [];
  const [address, namespace] = [kube.ingressAddress || nodes[0], kube.ingressNamespaceName || found];
  if (!address || !namespace)
    throw new Error('No ingress is found: set INGRESS_ADDRESS and INGRESS_NAMESPACE.');
  const networks = [
    ...(await list('nodes', '.spec.podCIDRs[*]')),
    ...nodes,
    ...(await list('pods', '.status.podIP', `--namespace=${namespace}`)),
  ];
  return {
    /** For this machine and for pods: what INGRESS_ADDRESS says, else the node's. */
    address,
    /** Its controller's: what INGRESS_NAMESPACE says, else where a pod runs that is known by its name. */
    namespace,
    /** The controller calls from its pods, or their networks, and nodes. */
    networks: [...new Set(networks)],
  };
}

/** Requests of this process for these origins go to `address`. */
export function leadTo(address: string, ...origins: readonly string[]): void {
  for (const origin of origins) {
    const entrance = new URL(origin);
    entrance.hostname = address;
    sendThrough(origin, entrance.href);
  }
}

/** Resolves when the ingress leads there. Helm waits for pods alone: the controller has yet to read Ingress, Secret and endpoints. */
export const untilLed = (issuer: string) =>
  vi.waitFor(async () => expect(await discover(issuer)).toMatchObject({ issuer }), kube.waiting);
