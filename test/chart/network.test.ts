// NetworkPolicies open exactly the architecture's network paths, and nothing else.
import { BlockList } from 'node:net';
import { expect, test } from 'vitest';
import { ofKind, podsOf, selects } from './objects.ts';
import type { KubernetesObject } from './render.ts';
import { renderSets } from './rendered.ts';

interface Party {
  readonly name: string;
  /** A pod's; a machine outside the cluster has none. */
  readonly namespace?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly address: string;
}

interface Port {
  readonly protocol: 'TCP' | 'UDP';
  readonly port: number;
}

type Direction = 'Ingress' | 'Egress';
type Objects = readonly KubernetesObject[];

/** Whether the policies of `party` let it speak with `other`. */
function opens(policies: Objects, direction: Direction, party: Party, other: Party, port: Port): boolean {
  const beside = policies.filter(({ metadata }) => metadata.namespace === party.namespace);
  const ruling = beside.filter(
    ({ spec }) => spec.policyTypes.includes(direction) && selects(spec.podSelector, party.labels),
  );
  if (ruling.length === 0) return true;
  return ruling.some(({ metadata, spec }) =>
    (spec[direction.toLowerCase()] ?? []).some((rule: KubernetesObject) => {
      const peers: KubernetesObject[] = (direction === 'Ingress' ? rule.from : rule.to) ?? [];
      const known = peers.length === 0 || peers.some((peer) => isPeer(peer, other, metadata.namespace));
      return known && hasPort(rule.ports ?? [], port);
    }),
  );
}

function hasPort(ports: Objects, { protocol, port }: Port): boolean {
  if (ports.some((one) => typeof one.port !== 'number')) throw new Error('a port by name is not known here');
  return ports.length === 0 || ports.some((one) => (one.protocol ?? 'TCP') === protocol && one.port === port);
}

function isPeer(peer: KubernetesObject, party: Party, policyNamespace: string): boolean {
  const { cidr, except = [] } = peer.ipBlock ?? {};
  if (cidr) return inBlock(cidr, party) && !except.some((one: string) => inBlock(one, party));
  if (party.namespace === undefined) return false;
  const namespaceLabels = { 'kubernetes.io/metadata.name': party.namespace };
  const inNamespace = peer.namespaceSelector
    ? selects(peer.namespaceSelector, namespaceLabels)
    : party.namespace === policyNamespace;
  return inNamespace && selects(peer.podSelector ?? {}, party.labels);
}

function inBlock(cidr: string, { address }: Party): boolean {
  const [network = '', length] = cidr.split('/');
  const block = new BlockList();
  block.addSubnet(network, Number(length), network.includes(':') ? 'ipv6' : 'ipv4');
  return block.check(address);
}

const pod = (name: string, namespace: string, labels: Record<string, string> = {}): Party => {
  return { name, namespace, labels, address: '10.244.0.9' };
};
const machine = (name: string, address: string): Party => ({ name, labels: {}, address });

/** Whom ci/test-everything-values.yaml speaks of, and strangers in the place of each. */
const outside: readonly Party[] = [
  pod('ingress controller', 'ingress', { app: 'ingress' }),
  pod('Prometheus', 'monitoring'),
  pod('load generator', 'exchange', { app: 'load' }),
  pod('Postgres', 'exchange', { app: 'postgres' }),
  pod('Redis', 'exchange', { app: 'redis' }),
  pod('collector', 'telemetry'),
  machine('DNS', '169.254.20.10'),
  machine('public entry', '10.0.0.7'),
  machine('operator', '10.9.0.1'),
  machine('platform', '10.8.0.1'),
];
const strangers: readonly Party[] = [
  pod('a pod beside', 'exchange'),
  pod('a pod elsewhere', 'other', { app: 'ingress' }),
  pod('a gateway elsewhere', 'other', { 'app.kubernetes.io/component': 'gateway' }),
  machine('the one machine left out', '10.9.0.7'),
  machine('the internet', '203.0.113.1'),
];
/** Outside where values name the controller's pods, and not all of its namespace. */
const neighbour = pod('another pod of the ingress', 'ingress', { app: 'other' });

const tcp = [
  ...[53, 443, 4318, 5432, 5433, 6379, 6380, 6381, 7001, 7002, 7101, 7102, 7201, 7301, 8080, 8081, 8443],
  ...[9000, 9001, 26379],
];
const ports: readonly Port[] = [
  { protocol: 'UDP', port: 53 },
  ...tcp.map((port) => ({ protocol: 'TCP', port }) as const),
];

/** `gateway → identity: 7001`, for each pod of the release and whom it lets in, or out to: judged by its own policies alone. */
function networkPaths(objects: Objects, direction: Direction, others: readonly Party[]): readonly string[] {
  const policies = ofKind(objects, 'NetworkPolicy');
  const address = '10.244.0.8';
  const own = podsOf(objects).map(({ component, ...rest }) => ({ ...rest, name: component, address }));
  return own
    .flatMap((party) => [...own, ...others].map((other) => [party, other] as const))
    .map(([party, other]) => {
      const open = ports.filter((port) => party !== other && opens(policies, direction, party, other, port));
      const written = open.map(({ protocol, port }) => (protocol === 'UDP' ? `${port}/udp` : `${port}`));
      const [from, to] = direction === 'Ingress' ? [other, party] : [party, other];
      return `${from.name} → ${to.name}: ${written.join(' ')}`;
    })
    .filter((path) => !path.endsWith(': '))
    .sort();
}

const sets = await renderSets();
const everything = sets.find(({ set }) => set === 'test-everything-values')?.objects ?? [];

const from = (parties: string, to: string) => parties.split(', ').map((party) => `${party} → ${to}`);
const within = [
  'contract-tests → gateway: 8080',
  ...from('gateway, design-catalog', 'identity: 7001'),
  'gateway → design-catalog: 7002',
  ...from('key-rotation, audit-export', 'identity: 7201'),
];
const inward = [
  ...from('ingress controller, public entry, load generator', 'gateway: 8080'),
  ...from('ingress controller, public entry', 'demo-partner: 9000'),
  'operator → identity: 7201',
  'platform → design-catalog: 7301',
  'Prometheus → gateway: 8081',
  'Prometheus → identity: 7101',
  'Prometheus → design-catalog: 7102',
  'Prometheus → demo-partner: 9001',
];
const services = 'gateway, identity, design-catalog, migrations';
const outward = [
  ...from('identity, design-catalog, migrations', 'Postgres: 5433'),
  ...from('identity, migrations', 'Redis: 6380 6381 26379'),
  ...from('demo-partner, contract-tests', 'public entry: 443 8443'),
  ...from(services, 'collector: 4318'),
  ...from(`${services}, demo-partner, contract-tests, key-rotation, audit-export`, 'DNS: 53/udp 53'),
];

test.each([
  ['Ingress', inward],
  ['Egress', outward],
] as const)('the network paths are those of the architecture, by %s alone', (direction, beyond) => {
  const parties = [...outside, ...strangers, neighbour];
  expect(networkPaths(everything, direction, parties)).toEqual([...within, ...beyond].sort());
});

test.each(sets)('$set: no stranger is let in, unless there are no policies', ({ set, objects }) => {
  const stranger = new RegExp(`^(${strangers.map(({ name }) => name).join('|')}) `);
  const met = networkPaths(objects, 'Ingress', strangers).filter((path) => stranger.test(path));
  expect(met.length > 0).toBe(set === 'test-open-values');
});

test.each(sets)('$set: every pod is denied both directions, whatever else rules it', ({ set, objects }) => {
  const policies = ofKind(objects, 'NetworkPolicy');
  for (const { spec } of policies) expect(spec.policyTypes).toEqual(['Ingress', 'Egress']);
  const denying = policies.filter(({ spec }) => spec.ingress === undefined && spec.egress === undefined);
  expect(denying).toHaveLength(set === 'test-open-values' ? 0 : 1);
  for (const { spec } of denying)
    expect(podsOf(objects).filter(({ labels }) => !selects(spec.podSelector, labels))).toEqual([]);
});
