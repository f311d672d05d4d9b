// What the chart gives to Prometheus and Grafana: off unless it is asked for, and true when it is.
import { dashboards } from '@course-exchange/observability/generate';
import { rulesFiles } from '@course-exchange/observability/rules';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { ofKind, podsOf, selects } from './objects.ts';
import { type KubernetesObject, renderAll } from './render.ts';

const on = 'test-everything-values';
const full = 'environment-course-exchange';
const sourceLabels = ['__meta_kubernetes_pod_label_app_kubernetes_io_component'];
const [asked = [], withPods = []] = (
  await renderAll([{ on }, { on, values: { metrics: { monitor: { kind: 'PodMonitor' } } } }])
).map(({ objects }) => objects);

test('monitors scrape /metrics of the three services, with the labels that rules and dashboards use', () => {
  const [service] = ofKind(asked, 'Service').filter(({ metadata }) => metadata.name.endsWith('-metrics'));
  const [serviceMonitor] = ofKind(asked, 'ServiceMonitor');
  const [podMonitor] = ofKind(withPods, 'PodMonitor');
  expect([...ofKind(withPods, 'ServiceMonitor'), ...ofKind(asked, 'PodMonitor')]).toEqual([]);
  expect(selects(serviceMonitor?.spec.selector, service?.metadata.labels)).toBe(true);
  const pods = podsOf(asked).filter(({ owner }) =>
    /^Deployment.*(gateway|identity|design-catalog)$/.test(owner),
  );
  for (const selector of [{ matchLabels: service?.spec.selector }, podMonitor?.spec.selector])
    expect(pods.filter(({ labels }) => selects(selector, labels))).toHaveLength(3);
  for (const [endpoint] of [serviceMonitor?.spec.endpoints, podMonitor?.spec.podMetricsEndpoints]) {
    expect(endpoint).toMatchObject({ port: 'health', path: '/metrics' });
    expect(endpoint.relabelings).toEqual([
      { sourceLabels, regex: 'gateway|identity|design-catalog', action: 'keep' },
      { sourceLabels, targetLabel: 'component' },
      { targetLabel: 'job', replacement: full },
    ]);
  }
  for (const { spec } of pods)
    expect(spec.containers[0].ports).toContainEqual(expect.objectContaining({ name: 'health' }));
});

test('the rules are those of the release, and link to the page of its people', () => {
  const [rule] = ofKind(asked, 'PrometheusRule');
  const groups: KubernetesObject[] = rule?.spec.groups;
  expect(JSON.stringify(groups)).not.toMatch(/job=\\"course-exchange\\"|RELEASE_NAME|docs\/on-call\.md/);
  const ours = Object.values(rulesFiles).flatMap((text) => parse(text()).groups as KubernetesObject[]);
  expect(groups.map(({ name }) => name)).toEqual(ours.map(({ name }) => name));
  const matchers = `job="${full}",namespace="exchange"`;
  for (const { rules, name } of groups)
    for (const { expr, annotations } of rules) {
      expect(expr, name).toContain(name.endsWith('kubernetes') ? 'namespace="exchange"' : matchers);
      if (annotations) expect(annotations.runbook_url).toMatch(/^https:\/\/docs\.example\/runbook#[a-z]+$/);
    }
});

test('each dashboard is a ConfigMap that holds its file', () => {
  const held = ofKind(asked, 'ConfigMap').flatMap(({ data }) => Object.entries<string>(data));
  const made = Object.entries(dashboards).map(([name, text]) => [name, text()]);
  expect(Object.fromEntries(held)).toEqual(Object.fromEntries(made));
});
