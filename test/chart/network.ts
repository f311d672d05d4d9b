// Who may speak to whom under NetworkPolicies, decided as Kubernetes does: a pod that no policy of a direction selects is
// open in it, else any matching rule of any policy opens it.
import { BlockList } from 'node:net';
import { type LabelSelector, selects } from './objects.ts';
import type { KubernetesObject } from './render.ts';

export interface Party {
  readonly name: string;
  /** A pod's; a machine outside the cluster has none. */
  readonly namespace?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly address: string;
}

export interface Port {
  readonly protocol: 'TCP' | 'UDP';
  readonly port: number;
}

interface Peer {
  readonly podSelector?: LabelSelector;
  readonly namespaceSelector?: LabelSelector;
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
}

interface Rule {
  readonly from?: readonly Peer[];
  readonly to?: readonly Peer[];
  readonly ports?: readonly { readonly protocol?: string; readonly port: number | string }[];
}

export function mayReach(policies: readonly KubernetesObject[], from: Party, to: Party, port: Port): boolean {
  return opens(policies, 'Egress', from, to, port) && opens(policies, 'Ingress', to, from, port);
}

function opens(
  policies: readonly KubernetesObject[],
  direction: 'Ingress' | 'Egress',
  party: Party,
  other: Party,
  port: Port,
): boolean {
  const ruling = policies.filter(
    ({ metadata, spec }) =>
      metadata.namespace === party.namespace &&
      spec.policyTypes.includes(direction) &&
      selects(spec.podSelector, party.labels),
  );
  if (ruling.length === 0) return true;
  return ruling.some(({ metadata, spec }) =>
    (spec[direction.toLowerCase()] ?? []).some((rule: Rule) => {
      const peers = (direction === 'Ingress' ? rule.from : rule.to) ?? [];
      const known = peers.length === 0 || peers.some((peer) => isPeer(peer, other, metadata.namespace));
      return known && hasPort(rule, port);
    }),
  );
}

function hasPort(rule: Rule, { protocol, port }: Port): boolean {
  const ports = rule.ports ?? [];
  if (ports.some((one) => typeof one.port !== 'number')) throw new Error('a port by name is not known here');
  return ports.length === 0 || ports.some((one) => (one.protocol ?? 'TCP') === protocol && one.port === port);
}

function isPeer(peer: Peer, party: Party, policyNamespace: string): boolean {
  if (peer.ipBlock)
    return inBlock(peer.ipBlock.cidr, party) && !peer.ipBlock.except?.some((cidr) => inBlock(cidr, party));
  if (party.namespace === undefined) return false;
  const namespaceLabels = { 'kubernetes.io/metadata.name': party.namespace };
  const inNamespace = peer.namespaceSelector
    ? selects(peer.namespaceSelector, namespaceLabels)
    : party.namespace === policyNamespace;
  return inNamespace && selects(peer.podSelector ?? {}, party.labels);
}

function inBlock(cidr: string, { address }: Party): boolean {
  const [network = '', length = '32'] = cidr.split('/');
  const block = new BlockList();
  block.addSubnet(network, Number(length), network.includes(':') ? 'ipv6' : 'ipv4');
  return block.check(address);
}
