// What the chart gives to Prometheus and Grafana: off unless it is asked for, and true when it is.
import { dashboards } from '@course-exchange/observability/dashboards';
import { rulesFiles } from '@course-exchange/observability/rules';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { ofKind, podsOf, selects } from './objects.ts';
import { helm, type KubernetesObject, objectsOf } from './render.ts';
import { environments, filesOf, filesOfEnvironment, objectsOfSet } from './value-sets.ts';

const withHelm = test.skipIf(helm === '');
const everything = 'test-everything-values';
const kinds = ['ServiceMonitor', 'PodMonitor', 'PrometheusRule'];
const full = 'environment-exchange';

withHelm.each(environments)('%s: nothing that needs an operator is there unasked', async (environment) => {
  const objects = await objectsOf({ files: filesOfEnvironment(environment) });
  expect(objects.filter(({ kind }) => kinds.includes(kind))).toEqual([]);
  const dashboards = ofKind(objects, 'ConfigMap').filter(({ metadata }) => /dashboard/.test(metadata.name));
  expect(dashboards).toEqual([]);
});

withHelm('monitors lead to /metrics of the health port that each scraped pod has', async () => {
  const objects = await objectsOfSet(everything);
  const metrics = { serviceMonitor: { enabled: false }, podMonitor: { enabled: true } };
  const withPods = await objectsOf({ files: filesOf(everything), values: { metrics } });
  const [service] = ofKind(objects, 'Service').filter(({ metadata }) => metadata.name.endsWith('-metrics'));
  const [serviceMonitor] = ofKind(objects, 'ServiceMonitor');
  const [podMonitor] = ofKind(withPods, 'PodMonitor');
  expect(ofKind(withPods, 'ServiceMonitor')).toEqual([]);
  expect(selects(serviceMonitor?.spec.selector, service?.metadata.labels)).toBe(true);
  const endpoints = [
    ...(serviceMonitor?.spec.endpoints ?? []),
    ...(podMonitor?.spec.podMetricsEndpoints ?? []),
  ];
  expect(endpoints).toHaveLength(2);
  const pods = podsOf(objects).filter(({ component }) =>
    /^(gateway|identity|design-catalog)$/.test(component),
  );
  for (const selector of [{ matchLabels: service?.spec.selector }, podMonitor?.spec.selector])
    expect(
      pods.filter(({ owner, labels }) => owner.startsWith('Deployment/') && selects(selector, labels)),
    ).toHaveLength(3);
  for (const { port, path, relabelings } of endpoints) {
    expect([port, path]).toEqual(['health', '/metrics']);
    expect(relabelings).toContainEqual({ targetLabel: 'job', replacement: full });
  }
  for (const { spec } of pods.filter(({ owner }) => owner.startsWith('Deployment/')))
    expect(spec.containers[0].ports).toContainEqual(expect.objectContaining({ name: 'health' }));
});

withHelm('a failed Job goes within a day, and the alert about it', async () => {
  const objects = await objectsOfSet(everything);
  const jobs = [
    ...ofKind(objects, 'Job').map(({ spec }) => spec),
    ...ofKind(objects, 'CronJob').map(({ spec }) => spec.jobTemplate.spec),
  ];
  expect(jobs.length).toBeGreaterThan(1);
  for (const { ttlSecondsAfterFinished } of jobs) expect(ttlSecondsAfterFinished).toBeLessThanOrEqual(86_400);
});

withHelm('the rules are those of the release, and link to the page of its people', async () => {
  const [rule] = ofKind(await objectsOfSet(everything), 'PrometheusRule');
  const written = JSON.stringify(rule?.spec.groups);
  expect(written).not.toMatch(/job=\\"course-exchange\\"|RELEASE_NAME|docs\/runbook\.md/);
  const ours = Object.values(rulesFiles).flatMap((text) => parse(text()).groups as KubernetesObject[]);
  const groups: KubernetesObject[] = rule?.spec.groups;
  expect(groups.map(({ name }) => name)).toEqual([...ours.map(({ name }) => name), 'own']);
  const matchers = `job="${full}",namespace="exchange"`;
  for (const { rules, name } of groups.filter(({ name }) => name !== 'own')) {
    for (const { expr, annotations } of rules) {
      expect(expr, name).toContain(name.endsWith('kubernetes') ? 'namespace="exchange"' : matchers);
      if (annotations) expect(annotations.runbook_url).toMatch(/^https:\/\/docs\.example\/runbook#[a-z]+$/);
    }
  }
});

withHelm(
  'each dashboard is a ConfigMap that holds its file, with the label that Grafana looks for',
  async () => {
    const maps = ofKind(await objectsOfSet(everything), 'ConfigMap').filter(({ metadata }) =>
      metadata.name.includes('-dashboard-'),
    );
    const texts = Object.values(dashboards).map((make) => make());
    const held = maps.flatMap(({ data }) => Object.values(data as Record<string, string>));
    expect(held.map((text) => JSON.parse(text)).toSorted(byUid)).toEqual(texts.toSorted(byUid));
    for (const { metadata } of maps) expect(metadata.labels.grafana_dashboard).toBe('2');
  },
);

function byUid(one: KubernetesObject, other: KubernetesObject): number {
  return `${one.uid}`.localeCompare(`${other.uid}`);
}
