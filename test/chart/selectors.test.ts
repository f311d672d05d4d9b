// What selects pods selects those of its own component: Services, Deployments, budgets, autoscalers.
import { expect, test } from 'vitest';
import { ofKind, podsOf, selects } from './objects.ts';
import { helm, type KubernetesObject } from './render.ts';
import { objectsOfSet, valueSets } from './value-sets.ts';

const everySet = test.skipIf(helm === '').each(valueSets);

everySet('%s: selectors select the pods of their own component, and no others', async (set) => {
  const objects = await objectsOfSet(set);
  const pods = podsOf(objects);
  const selected = (selector: Record<string, string>) =>
    pods.filter(({ labels }) => selects({ matchLabels: selector }, labels)).map(({ owner }) => owner);
  for (const { metadata, spec } of ofKind(objects, 'Deployment'))
    expect(selected(spec.selector.matchLabels)).toEqual([`Deployment/${metadata.name}`]);
  for (const { metadata, spec } of ofKind(objects, 'PodDisruptionBudget'))
    expect(selected(spec.selector.matchLabels)).toEqual([`Deployment/${metadata.name}`]);
  for (const { metadata, spec } of ofKind(objects, 'Service')) {
    if (metadata.labels['app.kubernetes.io/component'] === 'metrics') continue;
    const owner = `Deployment/${metadata.name.replace(/-(operator|feed)$/, '')}`;
    expect(selected(spec.selector), metadata.name).toEqual([owner]);
  }
});

everySet('%s: a Service leads to a port that its pods have', async (set) => {
  const objects = await objectsOfSet(set);
  for (const { metadata, spec } of ofKind(objects, 'Service')) {
    const serving = podsOf(objects).filter(
      ({ owner, labels }) =>
        owner.startsWith('Deployment/') && selects({ matchLabels: spec.selector }, labels),
    );
    for (const { targetPort } of spec.ports) {
      const ports = serving.map((pod) =>
        pod.spec.containers[0].ports.map((port: KubernetesObject) => port.name),
      );
      expect(
        ports.every((names) => names.includes(targetPort)),
        `${metadata.name} ${targetPort}`,
      ).toBe(true);
    }
  }
});

everySet(
  '%s: an autoscaler rules the replicas alone, and a budget leaves pods to be drained',
  async (set) => {
    const objects = await objectsOfSet(set);
    const deployments = new Map(
      ofKind(objects, 'Deployment').map((object) => [object.metadata.name, object]),
    );
    const scaled = ofKind(objects, 'HorizontalPodAutoscaler');
    for (const { spec } of scaled) {
      expect(deployments.get(spec.scaleTargetRef.name)?.spec).not.toHaveProperty('replicas');
      expect(spec.minReplicas).toBeLessThanOrEqual(spec.maxReplicas);
    }
    const names = scaled.map(({ spec }) => spec.scaleTargetRef.name);
    for (const [name, { spec }] of deployments) {
      if (!names.includes(name)) expect(spec.replicas, name).toBeGreaterThan(0);
      if (spec.strategy.type === 'RollingUpdate')
        expect(spec.strategy.rollingUpdate, name).toMatchObject({ maxUnavailable: 0 });
    }
  },
);
