// Where the suite finds the issuer: the address of the ingress, which no DNS tells for the hosts under test.
import { expect, vi } from 'vitest';
import { discover } from '../support/flow.ts';
import { sendThrough } from '../support/http.ts';
import { ingressAddress, ingressNamespaceName, type Kube, waiting } from './kube.ts';

export type Ingress = Awaited<ReturnType<typeof findIngress>>;

export async function findIngress({ kubectl }: Kube) {
  const list = async (what: string, path: string, ...words: readonly string[]) =>
    (await kubectl('get', what, `--output=jsonpath={.items[*]${path}}`, ...words)).split(' ').filter(Boolean);
  const nodes = await list('nodes', '.status.addresses[?(@.type=="InternalIP")].address');
  const columns = 'custom-columns=NAMESPACE:.metadata.namespace,NAME:.metadata.name';
  const pods = await kubectl('get', 'pods', '--all-namespaces', '--no-headers', `--output=${columns}`);
  const [, found = ''] = /^(\S+)\s+\S*(?:traefik|ingress|nginx|contour|haproxy)\S*$/m.exec(pods) ?? [];
  const [address, namespace] = [ingressAddress || nodes[0], ingressNamespaceName || found];
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
    /** Of its controller: what INGRESS_NAMESPACE says, else where a pod runs that is known by its name. */
    namespace,
    /** Where the controller calls from: its pods, or their networks, and nodes. */
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
  vi.waitFor(async () => expect(await discover(issuer)).toMatchObject({ issuer }), waiting);
