// Where pods run on several nodes: one of each service on each node, and soon on another when a node dies.
import { expect, test } from 'vitest';
import { ofKind, podOf, podsOf } from './objects.ts';
import { renderAll, type Values } from './render.ts';

const minimal = 'test-minimal-values';
const hosts = 'test-hosts';
const keys = ['not-ready', 'unreachable'].map((state) => `node.kubernetes.io/${state}`);
const seconds = (key: string, tolerationSeconds: number) => {
  return { key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds };
};
const [notReady, unreachable] = keys.map((key) => seconds(key, 30));
const dedicated = { key: 'dedicated', operator: 'Exists' };
const longer = seconds(keys[0] ?? '', 600);
const noSchedule = { ...longer, effect: 'NoSchedule', tolerationSeconds: undefined };
const everything = { operator: 'Exists' };

/** Kubernetes adds its 300 s by the same rule: where no toleration covers the taint. */
const tolerated: readonly (readonly [what: string, own: readonly object[], all: readonly unknown[]])[] = [
  ['none', [], [notReady, unreachable]],
  ['one of another taint', [dedicated], [dedicated, notReady, unreachable]],
  ['one of them', [longer], [longer, unreachable]],
  ['one of them, of another effect', [noSchedule], [noSchedule, notReady, unreachable]],
  ['all of them, whatever the effect', keys.map((key) => ({ key, operator: 'Exists' })), []],
  ['every taint', [everything], [everything]],
];
const rendered = await renderAll(
  tolerated.map(([, tolerations]) => ({ on: hosts, values: { identity: { tolerations } } })),
);

test.each(tolerated.map(([what, own, all], at) => ({ what, all: all.length > 0 ? all : own, at })))(
  'a Deployment leaves a dead node after 30 s, beside its own tolerations: $what',
  ({ all, at }) => {
    const objects = rendered[at]?.objects ?? [];
    expect(podOf(objects, 'identity')?.spec.tolerations).toEqual(JSON.parse(JSON.stringify(all)));
    for (const component of ['gateway', 'demo-partner'])
      expect(podOf(objects, component)?.spec.tolerations).toEqual([notReady, unreachable]);
    // A Job that moves has failed.
    for (const { owner, spec } of podsOf(objects).filter((pod) => pod.owner.startsWith('Job/')))
      expect(spec.tolerations, owner).toBeUndefined();
  },
);

const labelSelector = (component: string) => ({
  matchLabels: expect.objectContaining({ 'app.kubernetes.io/component': component }),
});
const constraint = (topologyKey: string, whenUnsatisfiable: string, component: string) => ({
  ...{ maxSkew: 1, topologyKey, whenUnsatisfiable, labelSelector: labelSelector(component) },
  // Pods of the version before do not count, nor nodes that may take none.
  ...{ nodeTaintsPolicy: 'Honor', matchLabelKeys: ['pod-template-hash'] },
});

test('pods of a service part by nodes always, and by zones if they can', async () => {
  const affinity: Values = { nodeAffinity: {} };
  const cases = [{}, { gateway: { affinity } }].map((values) => ({ on: minimal, values }));
  for (const [at, { objects }] of (await renderAll(cases)).entries())
    for (const { component, spec } of podsOf(objects)) {
      const isSpread = component !== 'migrations';
      expect(spec.topologySpreadConstraints).toEqual(
        isSpread
          ? [
              constraint('kubernetes.io/hostname', 'DoNotSchedule', component),
              constraint('topology.kubernetes.io/zone', 'ScheduleAnyway', component),
            ]
          : undefined,
      );
      // An anti-affinity would count the pods of the version before.
      expect(spec.affinity).toEqual(at === 1 && component === 'gateway' ? affinity : undefined);
    }
});

const budgets: readonly (readonly [own: Values, spec: Values])[] = [
  [{}, { maxUnavailable: 1 }],
  [{ maxUnavailable: '50%' }, { maxUnavailable: '50%' }],
  [{ minAvailable: 1 }, { minAvailable: 1 }],
  [{ minAvailable: '50%' }, { minAvailable: '50%' }],
];

test('a budget says how many pods may be missing, or how many stay', async () => {
  const cases = budgets.map(([podDisruptionBudget]) => ({
    on: minimal,
    values: { gateway: { podDisruptionBudget } },
  }));
  for (const [at, { objects, refused }] of (await renderAll(cases)).entries()) {
    const [budget] = ofKind(objects, 'PodDisruptionBudget').filter(({ metadata }) =>
      metadata.name.endsWith('-gateway'),
    );
    const { selector: _, unhealthyPodEvictionPolicy: __, ...spec } = budget?.spec ?? {};
    expect([refused, spec]).toEqual(['', budgets[at]?.[1]]);
  }
});

test('every pod asks the DNS that the cluster has', async () => {
  const nodeLocal = { dnsPolicy: 'None', dnsConfig: { nameservers: ['169.254.20.10'] } };
  const [asIs, own] = await renderAll([{ on: hosts }, { on: hosts, values: { defaults: nodeLocal } }]);
  const options = expect.arrayContaining([{ name: 'ndots', value: '2' }, { name: 'single-request-reopen' }]);
  for (const { spec } of podsOf(asIs?.objects ?? []))
    expect([spec.dnsPolicy, spec.dnsConfig]).toEqual(['ClusterFirst', { options }]);
  for (const { spec } of podsOf(own?.objects ?? []))
    expect([spec.dnsPolicy, spec.dnsConfig]).toEqual(['None', { ...nodeLocal.dnsConfig, options }]);
});

const everywhere = {
  ipFamilyPolicy: 'PreferDualStack',
  ipFamilies: ['IPv6', 'IPv4'],
  trafficDistribution: 'PreferClose',
};
const outside = {
  externalTrafficPolicy: 'Local',
  loadBalancerClass: 'example.com/internal',
  loadBalancerSourceRanges: ['192.0.2.0/24'],
};

test("the gateway's Services have the fields of a load balancer and of two families", async () => {
  const service = { type: 'LoadBalancer', ...everywhere, ...outside };
  const values = { gateway: { service }, ingress: { controller: 'traefik' } };
  const [{ objects = [], refused } = {}] = await renderAll([{ on: minimal, values }]);
  expect(refused).toBe('');
  const specs = ofKind(objects, 'Service').map(({ metadata, spec: { ports: _, selector: __, ...spec } }) => [
    metadata.name.replace('environment-course-exchange-', ''),
    spec,
  ]);
  const headless = { type: 'ClusterIP', clusterIP: 'None' };
  expect(Object.fromEntries(specs)).toEqual({
    gateway: service,
    'gateway-login': { type: 'ClusterIP', ...everywhere },
    identity: headless,
    'design-catalog': headless,
  });
});
