// Where pods run on several nodes: one of each service on each node, and soon on another when a node dies.
import { expect, test } from 'vitest';
import { podOf, podsOf } from './objects.ts';
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
