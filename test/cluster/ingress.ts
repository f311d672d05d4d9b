// Where the suite finds the issuer: the address of the ingress, which no DNS tells for the hosts under test.
import { discover } from '../support/flow.ts';
import { knowHost } from '../support/http.ts';
import { eventually, type Kube, kubeIn } from './kube.ts';
import { ingressAddress, ingressNamespaceName } from './settings.ts';

interface Addressed {
  readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string }[] } };
}
interface Nodes {
  readonly items: readonly {
    readonly spec: { readonly podCIDRs?: readonly string[] };
    readonly status: { readonly addresses: readonly { readonly type: string; readonly address: string }[] };
  }[];
}

/** What INGRESS_ADDRESS says, else what an Ingress of the cluster says, else the node's address. */
export async function findIngress(kube: Kube): Promise<string> {
  if (ingressAddress) return ingressAddress;
  const { items } = await kube.get<{ items: readonly Addressed[] }>('ingress', '--all-namespaces');
  const told = items.flatMap(({ status }) => status?.loadBalancer?.ingress ?? []).find(({ ip }) => ip)?.ip;
  if (told) return told;
  const nodes = await kube.get<Nodes>('nodes');
  const inner = nodes.items[0]?.status.addresses.find(({ type }) => type === 'InternalIP')?.address;
  if (!inner) throw new Error('No ingress address is found: set INGRESS_ADDRESS.');
  return inner;
}

/** What INGRESS_NAMESPACE says, else where a pod of a controller that is known by its name runs. */
export async function findIngressNamespace(kube: Kube): Promise<string> {
  if (ingressNamespaceName) return ingressNamespaceName;
  const columns = 'custom-columns=NAMESPACE:.metadata.namespace,NAME:.metadata.name';
  const pods = await kube.kubectl('get', 'pods', '--all-namespaces', '--no-headers', `--output=${columns}`);
  const [, found] = /^(\S+)\s+\S*(?:traefik|ingress|nginx|contour|haproxy)\S*$/m.exec(pods) ?? [];
  if (!found) throw new Error('No ingress controller is found: set INGRESS_NAMESPACE.');
  return found;
}

/** Where an ingress controller of this cluster calls from: its pods, or their networks, and nodes. */
export async function findProxies(kube: Kube): Promise<readonly string[]> {
  const { items } = await kube.get<Nodes>('nodes');
  const namespace = await findIngressNamespace(kube);
  const addresses = '--output=jsonpath={.items[*].status.podIP}';
  const pods = await kubeIn(namespace).kubectl('get', 'pods', addresses);
  const networks = items.flatMap(({ spec, status }) => [
    ...(spec.podCIDRs ?? []),
    ...status.addresses.filter(({ type }) => type === 'InternalIP').map(({ address }) => address),
  ]);
  return [...new Set([...networks, ...pods.split(' ').filter((address) => address !== '')])];
}

/** Requests of this process for these origins go to `address`. */
export function leadTo(address: string, ...origins: readonly string[]): void {
  for (const origin of origins) knowHost(new URL(origin).hostname, address);
}

/** Resolves when the ingress leads there. Helm waits for pods alone: the controller has yet to read Ingress, Secret and endpoints. */
export async function untilLed(issuer: string): Promise<void> {
  await eventually(
    () => discover(issuer),
    (document) => document.issuer === issuer,
  );
}
