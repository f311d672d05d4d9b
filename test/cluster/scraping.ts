// Prometheus finds the pods by its own discovery and reads their metrics; networkPolicy.monitoring names who may.
import { test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { send } from '../support/http.ts';
import { eventually, type KubeObject, kubeIn, makeNamespace } from './kube.ts';
import { allPods } from './pods.ts';
import { monitoring, type Production, scraper } from './production.ts';
import { startProgram } from './programs.ts';
import { namespaceOf, prometheusImage, release } from './settings.ts';

/** The same program under a label that the value does not name. */
const unnamed = 'another-prometheus';

/** One that networkPolicy.monitoring names, and another one. */
export async function startScrapers(): Promise<void> {
  const observer = await makeNamespace(monitoring, 'restricted');
  const names = prometheusImage === '' ? [] : [scraper, unnamed];
  await Promise.all(names.map((name) => startProgram(observer, name, prometheus)));
}

export function scraping(production: () => Production): void {
  test.skipIf(prometheusImage === '')(
    'Prometheus reads every pod, and one that the NetworkPolicies do not name reads none',
    async () => {
      const { kube } = production();
      await kube.apply(await metricsService(production()));
      const pods = await allPods(kube);
      const each = (value: string) => pods.map(({ address }) => `${address} ${value}`).sort();
      const answers = (name: string, query: string, wanted: readonly string[]) =>
        eventually(
          () => ask(name, query),
          (said) => JSON.stringify(said) === JSON.stringify(wanted),
        );
      await answers(scraper, 'up', each('1'));
      await answers(scraper, 'count by (pod) (nodejs_eventloop_utilization_ratio)', each('1'));
      await send(`${production().stack.issuer}/.well-known/openid-configuration`);
      await eventually(
        () => ask(scraper, 'sum(http_server_request_duration_seconds_count)'),
        ([counted]) => Number(counted) > 0,
      );
      // Asked twice and more, each pod without an answer.
      await answers(unnamed, 'max_over_time(up[10m]) and count_over_time(up[10m]) > 1', each('0'));
      await kube.kubectl('delete', 'service', metrics);
    },
  );
}

const metrics = `${release}-metrics`;

/** The chart's own, which it makes beside a ServiceMonitor; a cluster without Prometheus' operator does not take that. */
async function metricsService({ kube, helmWords }: Production): Promise<KubeObject> {
  const rendered = await kube.helm('template', ...helmWords, '--set=metrics.monitor.kind=ServiceMonitor');
  const objects = parseAllDocuments(rendered).map((each) => each.toJS() as KubeObject | null);
  const found = objects.find((object) => object?.kind === 'Service' && object.metadata.name === metrics);
  if (!found) throw new Error(`The chart renders no Service ${metrics}.`);
  return found;
}

/** It asks DNS for the pods and their ports: Debian's Prometheus cannot ask the API server. */
const job = {
  job_name: release,
  dns_sd_configs: [
    {
      names: [`_health._tcp.${metrics}.${namespaceOf('production')}.svc.cluster.local`],
      refresh_interval: '5s',
    },
  ],
  // The first part of a pod's name is its address.
  relabel_configs: [
    {
      source_labels: ['__address__'],
      regex: '(\\d+)-(\\d+)-(\\d+)-(\\d+)\\..*',
      replacement: '$1.$2.$3.$4',
      target_label: 'pod',
    },
  ],
};
const global = { scrape_interval: '5s', scrape_timeout: '5s' };
const prometheus = {
  image: prometheusImage,
  args: ['--config.file=/etc/program/prometheus.yml', '--storage.tsdb.path=/tmp/data'],
  // JSON is YAML.
  files: { 'prometheus.yml': JSON.stringify({ global, scrape_configs: [job] }) },
  port: 9090,
};

/** `pod value` of each series, sorted; none while Prometheus does not answer. */
async function ask(name: string, query: string): Promise<readonly string[]> {
  const observer = kubeIn(namespaceOf(monitoring));
  const path = `/api/v1/namespaces/${observer.namespace}/pods/${name}:9090/proxy/api/v1/query`;
  const asked = ['get', '--raw', `${path}?query=${encodeURIComponent(query)}`];
  const { code, output } = await observer.tryKubectl(asked);
  if (code !== 0) return [];
  const { data } = JSON.parse(output) as { data: { result: readonly Series[] } };
  return data.result.map(({ metric, value }) => `${metric.pod ?? ''} ${value[1]}`).sort();
}

interface Series {
  readonly metric: { readonly pod?: string };
  readonly value: readonly [number, string];
}
