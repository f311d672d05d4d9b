// NetworkPolicies open exactly the architecture's network paths, and nothing else.
import { BlockList } from 'node:net';
import { expect, test } from 'vitest';
import { type LabelSelector, ofKind, podsOf, selects } from './objects.ts';
import { helm, type KubernetesObject } from './render.ts';
import { objectsOfSet, valueSets } from './value-sets.ts';

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

function mayReach(policies: readonly KubernetesObject[], from: Party, to: Party, port: Port): boolean {
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

const withHelm = test.skipIf(helm === '');

const pod = (name: string, namespace: string, labels: Record<string, string> = {}): Party => ({
  name,
  namespace,
  labels,
  address: '10.244.0.9',
});
const machine = (name: string, address: string): Party => ({ name, labels: {}, address });

/** A neighbour of the ingress controller: outside where values name the controller's pods, and not all of its namespace. */
const neighbour = pod('another pod of the ingress', 'ingress', { app: 'other' });

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

const tcp = [
  53, 443, 4318, 5432, 5433, 6379, 6380, 7001, 7002, 7101, 7102, 7201, 7301, 8080, 8081, 8443, 9000, 9001,
  26379,
];
const ports: readonly Port[] = [
  { protocol: 'UDP', port: 53 },
  ...tcp.map((port) => ({ protocol: 'TCP', port }) as const),
];

function partiesOf(objects: readonly KubernetesObject[]): readonly Party[] {
  return podsOf(objects).map(({ component, namespace, labels }) => ({
    name: component,
    namespace,
    labels,
    address: '10.244.0.8',
  }));
}

/** `gateway → identity: 7001`, for each pair of which one is a pod of the release. */
function networkPaths(objects: readonly KubernetesObject[], others: readonly Party[]): readonly string[] {
  const policies = ofKind(objects, 'NetworkPolicy');
  const own = partiesOf(objects);
  const pairs = [
    ...own.flatMap((from) => [...own, ...others].map((to) => [from, to] as const)),
    ...others.flatMap((from) => own.map((to) => [from, to] as const)),
  ];
  return pairs
    .map(([from, to]) => {
      const open = ports.filter((port) => from !== to && mayReach(policies, from, to, port));
      const written = open.map(({ protocol, port }) => (protocol === 'UDP' ? `${port}/udp` : `${port}`));
      return `${from.name} → ${to.name}: ${written.join(' ')}`;
    })
    .filter((path) => !path.endsWith(': '))
    .sort();
}

const dns = (component: string) => `${component} → DNS: 53/udp 53`;
const stores = (component: string) => [`${component} → Postgres: 5433`];

withHelm('the network paths are those of the architecture', async () => {
  const expected = [
    'ingress controller → gateway: 8080',
    'public entry → gateway: 8080',
    'load generator → gateway: 8080',
    'contract-tests → gateway: 8080',
    'gateway → identity: 7001',
    'gateway → design-catalog: 7002',
    'design-catalog → identity: 7001',
    'key-rotation → identity: 7201',
    'operator → identity: 7201',
    'platform → design-catalog: 7301',
    ...stores('identity'),
    ...stores('design-catalog'),
    ...stores('migrations'),
    'identity → Redis: 6380 26379',
    'migrations → Redis: 6380 26379',
    'ingress controller → demo-partner: 9000',
    'public entry → demo-partner: 9000',
    'demo-partner → public entry: 8443',
    'contract-tests → public entry: 8443',
    'Prometheus → gateway: 8081',
    'Prometheus → identity: 7101',
    'Prometheus → design-catalog: 7102',
    'Prometheus → demo-partner: 9001',
    ...['gateway', 'identity', 'design-catalog', 'migrations'].map((from) => `${from} → collector: 4318`),
    ...[
      'gateway',
      'identity',
      'design-catalog',
      'migrations',
      'demo-partner',
      'contract-tests',
      'key-rotation',
    ].map(dns),
  ];
  expect(networkPaths(await objectsOfSet('test-everything-values'), outside)).toEqual(expected.sort());
});

withHelm('no stranger is let in, and nobody is let out to one', async () => {
  const objects = await objectsOfSet('test-everything-values');
  const names = [...strangers, neighbour].map(({ name }) => name);
  const met = networkPaths(objects, [...strangers, neighbour]).filter((path) =>
    names.some((name) => path.includes(name)),
  );
  expect(met).toEqual([]);
});

withHelm.each(valueSets.filter((set) => set !== 'test-open-values'))(
  '%s: no stranger is let in',
  async (set) => {
    const objects = await objectsOfSet(set);
    const policies = ofKind(objects, 'NetworkPolicy');
    const admitted = partiesOf(objects).flatMap((to) =>
      strangers
        .filter((from) => ports.some((port) => mayReach(policies, from, to, port)))
        .map((from) => `${from.name} → ${to.name}`),
    );
    expect(admitted).toEqual([]);
  },
);

withHelm('without NetworkPolicies everybody is let in, so that the tests above can fail', async () => {
  const objects = await objectsOfSet('test-open-values');
  expect(networkPaths(objects, strangers).length).toBeGreaterThan(10);
});
