// NetworkPolicies open exactly the architecture's network paths, and nothing else.
import { isDeepStrictEqual } from 'node:util';
import { privatePorts } from '@course-exchange/rules/private-ports';
import { expect, test } from 'vitest';
import { ofKind, podsOf, selects } from './objects.ts';
import { type KubernetesObject, renderSets } from './render.ts';

const sets = await renderSets();
const everything = sets.find(({ set }) => set === 'test-everything-values')?.objects ?? [];
const components = podsOf(everything).map(({ component }) => component);
const selectorOf = (component: string) => ({
  matchLabels: {
    ...{ 'app.kubernetes.io/name': 'course-exchange', 'app.kubernetes.io/instance': 'environment' },
    'app.kubernetes.io/component': component,
  },
});

/** Peers that ci/test-everything-values.yaml names. */
const namespace = (name: string) => ({
  namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } },
});
const pods = (app: string) => ({ podSelector: { matchLabels: { app } } });
const peers: Readonly<Record<string, object>> = {
  ...Object.fromEntries(components.map((component) => [component, { podSelector: selectorOf(component) }])),
  'ingress controller': { ...namespace('ingress'), ...pods('ingress') },
  Prometheus: namespace('monitoring'),
  Postgres: pods('postgres'),
  Redis: pods('redis'),
  collector: namespace('telemetry'),
  DNS: { ipBlock: { cidr: '169.254.20.10/32' } },
  'node network': { ipBlock: { cidr: '10.0.0.0/24' } },
  anyone: {},
  operator: { ipBlock: { cidr: '10.9.0.0/24', except: ['10.9.0.7/32'] } },
  platform: { ipBlock: { cidr: '10.8.0.0/24' } },
};

const nameOf = (peer: KubernetesObject) =>
  Object.keys(peers).find((name) => isDeepStrictEqual(peers[name], peer)) ?? JSON.stringify(peer);

/** `gateway → identity: 7001`, of each rule of a direction and each of its peers. */
function networkPaths(direction: 'ingress' | 'egress'): readonly string[] {
  return ofKind(everything, 'NetworkPolicy').flatMap(({ metadata, spec }) => {
    const component = metadata.labels['app.kubernetes.io/component'];
    if (spec[direction] !== undefined) expect(spec.podSelector).toEqual(selectorOf(component));
    return (spec[direction] ?? []).flatMap(({ from, to, ports }: KubernetesObject) =>
      (from ?? to ?? [{}]).map((peer: KubernetesObject) => {
        const open = ports.map(
          ({ port, protocol }: KubernetesObject) => `${port}${protocol === 'UDP' ? '/udp' : ''}`,
        );
        const ends = [component, nameOf(peer)];
        return `${(direction === 'egress' ? ends : ends.reverse()).join(' → ')}: ${open.join(' ')}`;
      }),
    );
  });
}

const from = (parties: string, to: string) => parties.split(', ').map((party) => `${party} → ${to}`);
const within = [
  'contract-tests → gateway: 8080',
  ...from('gateway, design-catalog', 'identity: 7001'),
  'gateway → design-catalog: 7002',
  ...from('key-rotation, audit-export', `identity: ${privatePorts.OPERATOR}`),
];
const inward = [
  ...from('ingress controller, node network', 'gateway: 8080'),
  ...from('ingress controller, node network', 'demo-partner: 9000'),
  `operator → identity: ${privatePorts.OPERATOR}`,
  `platform → design-catalog: ${privatePorts.FEED}`,
  ...['gateway: 8081', 'identity: 7101', 'design-catalog: 7102', 'demo-partner: 9001'].map(
    (port) => `Prometheus → ${port}`,
  ),
];
const services = 'gateway, identity, design-catalog, migrations';
const jobs = 'demo-partner, contract-tests, key-rotation, audit-export';
const outward = [
  ...from('identity, design-catalog, migrations', 'Postgres: 5433'),
  ...from('identity, migrations', 'Redis: 26379 6380 6381'),
  ...from('demo-partner, contract-tests', 'anyone: 443 8443'),
  ...from(services, 'collector: 4318'),
  ...from(`${services}, ${jobs}`, 'DNS: 53/udp 53 5353/udp 5353'),
];

test.each(sets.filter(({ set }) => set.startsWith('production')))(
  '$set: production names whom it calls',
  ({ objects, notes }) => {
    for (const { metadata, spec } of ofKind(objects, 'NetworkPolicy'))
      for (const { to } of spec.egress ?? []) expect(to, metadata.name).not.toEqual(undefined);
    expect(notes).not.toContain('any address');
  },
);

test.each([
  ['ingress', inward],
  ['egress', outward],
] as const)('the network paths are those of the architecture, by %s alone', (direction, beyond) => {
  expect(networkPaths(direction).toSorted()).toEqual([...within, ...beyond].sort());
});

test.each(sets)(
  '$set: every pod is denied both directions, and each rule names whom it lets in',
  ({ set, objects }) => {
    const policies = ofKind(objects, 'NetworkPolicy');
    for (const { spec } of policies) {
      expect(spec.policyTypes).toEqual(['Ingress', 'Egress']);
      for (const { from: named } of spec.ingress ?? []) {
        expect(named?.length).toBeGreaterThan(0);
        // No peer is all pods, all namespaces or all addresses.
        expect(JSON.stringify(named)).not.toMatch(/{}|\/0"|Exists/);
      }
    }
    const denying = policies.filter(({ spec }) => spec.ingress === undefined && spec.egress === undefined);
    expect(denying).toHaveLength(set === 'test-open-values' ? 0 : 1);
    for (const { spec } of denying)
      expect(podsOf(objects).filter(({ labels }) => !selects(spec.podSelector, labels))).toEqual([]);
  },
);
