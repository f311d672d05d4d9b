// promtool on what the chart's monitors tell Prometheus of each pod: which are scraped, and what they are called.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { ofKind } from '../chart/objects.ts';
import { helm, objectsOf } from '../chart/render.ts';
import { filesOf } from '../chart/value-sets.ts';

const promtool = process.env.PROMTOOL ?? 'promtool';
const scraped = ['gateway', 'identity', 'design-catalog'];
const componentLabel = '__meta_kubernetes_pod_label_app_kubernetes_io_component';

type Labels = Readonly<Record<string, string>>;

/** Labels of the targets that remain of a pod of each component. */
function targetsOf(relabelings: readonly Labels[]): readonly Labels[] {
  const folder = mkdtempSync(join(tmpdir(), 'relabelings-'));
  // As Prometheus' operator writes them.
  const inItsWords = (rule: Labels) =>
    Object.fromEntries(
      Object.entries(rule).map(([name, value]) => [
        name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
        value,
      ]),
    );
  const static_configs = [...scraped, 'demo-partner', 'migrations'].map((component) => ({
    targets: [`${component}:8081`],
    labels: { [componentLabel]: component },
  }));
  const config = {
    scrape_configs: [{ job_name: 'pods', static_configs, relabel_configs: relabelings.map(inItsWords) }],
  };
  try {
    const file = join(folder, 'prometheus.yaml');
    writeFileSync(file, stringify(config));
    const words = ['check', 'service-discovery', '--timeout=5s', file, 'pods'];
    const { stdout, stderr } = spawnSync(promtool, words, { encoding: 'utf8' });
    expect(stderr).toBe('');
    const found = JSON.parse(stdout) as readonly { readonly labels: Labels }[];
    return found.map(({ labels }) => labels).filter((labels) => Object.keys(labels).length > 0);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test.skipIf(helm === '').each([
  ['ServiceMonitor', 'serviceMonitor', 'endpoints'],
  ['PodMonitor', 'podMonitor', 'podMetricsEndpoints'],
])('a %s keeps the three services, and names them as rules and dashboards do', async (kind, value, field) => {
  const metrics = {
    serviceMonitor: { enabled: false },
    podMonitor: { enabled: false },
    [value]: { enabled: true },
  };
  const objects = await objectsOf({ files: filesOf('test-everything-values'), values: { metrics } });
  const [monitor] = ofKind(objects, kind);
  const targets = targetsOf(monitor?.spec[field][0].relabelings);
  expect(targets.map(({ component }) => component).toSorted()).toEqual(scraped.toSorted());
  for (const { job, component, instance } of targets)
    expect([job, instance]).toEqual(['environment-exchange', `${component}:8081`]);
});
