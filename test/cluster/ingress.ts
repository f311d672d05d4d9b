// Where the suite finds the issuer: the address of the ingress, which no DNS tells for the hosts under test.
import { discover } from '../support/flow.ts';
import { sendThrough } from '../support/http.ts';
import { eventually, type Kube, kubeIn } from './kube.ts';
import { ingressAddress, ingressNamespaceName } from './settings.ts';

interface Nodes {
  readonly items: readonly {
    readonly spec: { readonly podCIDRs?: readonly string[] };
    readonly status: { readonly addresses: readonly { readonly type: string; readonly address: string }[] };
  }[];
}

export interface Ingress {
  /** For this machine and for pods: what INGRESS_ADDRESS says, else the node's. */
  readonly address: string;
  /** Of its controller: what INGRESS_NAMESPACE says, else where a pod runs that is known by its name. */
  readonly namespace: string;
  /** Where the controller calls from: its pods, or their networks, and nodes. */
  readonly networks: readonly string[];
}

export async function findIngress(kube: Kube): Promise<Ingress> {
  const { items } = await kube.get<Nodes>('nodes');
  const nodes = items.flatMap(({ status }) =>
    status.addresses.filter(({ type }) => type === 'InternalIP').map(({ address }) => address),
  );
  const columns = 'custom-columns=NAMESPACE:.metadata.namespace,NAME:.metadata.name';
  const pods = await kube.kubectl('get', 'pods', '--all-namespaces', '--no-headers', `--output=${columns}`);
  const [, found = ''] = /^(\S+)\s+\S*(?:traefik|ingress|nginx|contour|haproxy)\S*$/m.exec(pods) ?? [];
  const [address, namespace] = [ingressAddress || nodes[0], ingressNamespaceName || found];
  if (!address || !namespace)
    throw new Error('No ingress is found: set INGRESS_ADDRESS and INGRESS_NAMESPACE.');
  const addresses = await kubeIn(namespace).kubectl(
    'get',
    'pods',
    '--output=jsonpath={.items[*].status.podIP}',
  );
  const networks = [...items.flatMap(({ spec }) => spec.podCIDRs ?? []), ...nodes, ...addresses.split(' ')];
  return { address, namespace, networks: [...new Set(networks.filter((network) => network !== ''))] };
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
export async function untilLed(issuer: string): Promise<void> {
  await eventually(
    () => discover(issuer),
    (document) => document.issuer === issuer,
  );
}
