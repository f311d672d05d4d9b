// Reads PromQL as Prometheus does and tells what in it the product does not have.
import type { Metric } from '@course-exchange/runtime/process/metrics';
import { runtimeMetrics } from '@course-exchange/runtime/process/runtime-metrics';
import { parser } from '@prometheus-io/lezer-promql';
import { catalogMetrics } from '../../services/design-catalog/src/metrics.ts';
import { gatewayMetrics } from '../../services/gateway/src/metrics.ts';
import { identityMetrics } from '../../services/identity/src/metrics.ts';
import { eventLabels } from './events.ts';
import { recordings } from './objectives.ts';
import { seriesName } from './promql.ts';

const tables = [gatewayMetrics, identityMetrics, catalogMetrics, runtimeMetrics];

/** What each target carries: Prometheus', and those that the chart's monitors give it. */
const targetLabels = ['job', 'instance', 'namespace', 'pod', 'component'];
/** Of Prometheus itself and of kube-state-metrics. */
const foreign: Readonly<Record<string, readonly string[]>> = {
  up: [],
  kube_deployment_status_replicas_available: ['deployment'],
  kube_deployment_spec_replicas: ['deployment'],
  kube_pod_container_status_restarts_total: ['container'],
  kube_job_status_failed: ['job_name'],
};

function ownSeries(metric: Metric): (readonly [string, readonly string[]])[] {
  const labels = metric.definition.labels.map((label) => label.replaceAll('.', '_'));
  const parts = metric.kind === 'histogram' ? (['count', 'sum', 'bucket'] as const) : (['count'] as const);
  return parts.map((part) => [seriesName(metric, part), part === 'bucket' ? [...labels, 'le'] : labels]);
}

/** Labels by the name of a series. */
const knownSeries: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  [
    ...tables.flatMap((table) => Object.values<Metric>(table)).flatMap(ownSeries),
    ...Object.entries(foreign),
    ...eventLabels,
    ...recordings.map(({ record, labels = {} }) => [record, Object.keys(labels)] as const),
  ].map(([name, labels]) => [name, new Set([...targetLabels, ...labels])]),
);

/** A sentence for each mistake: a text that is no PromQL, an unknown metric, a label that no metric of the expression has. */
export function unknownNames(expr: string): readonly string[] {
  const found: string[] = [];
  const grouped: string[] = [];
  const available = new Set<string>();
  parser.parse(expr).iterate({
    enter: ({ node, type, from, to }) => {
      if (type.isError) found.push(`no PromQL at "${expr.slice(from, from + 20)}"`);
      if (type.name === 'VectorSelector') {
        const [name = ''] = expr.slice(from, to).split('{');
        const labels = knownSeries.get(name.trim());
        if (labels === undefined) found.push(`${name} is no metric`);
        for (const label of labels ?? []) available.add(label);
        const unknown = labelsIn(node).filter((label) => labels && !labels.has(label));
        found.push(...unknown.map((label) => `${name} has no label ${label}`));
      }
      if (type.name === 'GroupingLabels') grouped.push(...labelsIn(node));
    },
  });
  const absent = grouped.filter((label) => !available.has(label));
  return [...found, ...absent.map((label) => `no metric here has ${label}`)];

  function labelsIn(node: ReturnType<typeof parser.parse>['topNode']): readonly string[] {
    const labels: string[] = [];
    node.cursor().iterate(({ name, from, to }) => {
      if (name === 'LabelName') labels.push(expr.slice(from, to));
    });
    return labels;
  }
}
