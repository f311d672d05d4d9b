// Where the suite finds the issuer: the address of the ingress, which no DNS tells for the hosts under test.
import { knowHost } from '../support/known-hosts.ts';
import type { Kube } from './kube.ts';
import { ingressAddress } from './settings.ts';

interface Addressed {
  readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string }[] } };
}
interface Nodes {
  readonly items: readonly {
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

/** Requests of this process for these origins go to `address`. */
export function leadTo(address: string, ...origins: readonly string[]): void {
  for (const origin of origins) knowHost(new URL(origin).hostname, address);
}
