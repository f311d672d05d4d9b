// PromQL over the product's own metrics. A series is written from a metric's definition, so that one that the product
// does not have, or a label that the metric lacks, does not compile.
import { type Metric, type MetricDefinition, nameWithUnit } from '@course-exchange/runtime/process/metrics';

type LabelOf<M> = M extends { readonly definition: MetricDefinition<infer Label> } ? Label : never;

/** What a label must be: a value, or one of Prometheus' operators before it (`=~`, `!=`, `!~`). */
type Matchers<M> = { readonly [L in LabelOf<M>]?: string };

export type Component = 'gateway' | 'identity' | 'design-catalog';

/** The job that scrapes one installation. The chart puts the name and namespace of its release in its place. */
export const job = 'course-exchange';
export const scope = `job="${job}"`;
/** What tells installations in one Prometheus apart. The second is empty without Kubernetes. */
export const release = 'job, namespace';

/** As Prometheus names it: a histogram has `_count`, or with `part` another one of its three. */
export function seriesName({ kind, definition }: Metric, part: 'count' | 'bucket' | 'sum' = 'count'): string {
  const endings: Readonly<Record<string, string>> = { counter: '_total', histogram: `_${part}` };
  return nameWithUnit(definition).replaceAll('.', '_') + (endings[kind] ?? '');
}

export function series<M extends Metric>(
  metric: M,
  matchers: Matchers<M> = {},
  { component, le, within = scope }: SeriesOptions = {},
): string {
  const all = [
    within,
    ...(component === undefined ? [] : [`component="${component}"`]),
    ...Object.entries(matchers).map(([label, value]) => matcher(label.replaceAll('.', '_'), `${value}`)),
    ...(le === undefined ? [] : [bound(le)]),
  ];
  return `${seriesName(metric, le === undefined ? 'count' : 'bucket')}{${all.join(',')}}`;
}

interface SeriesOptions {
  /** The process: a label of the target. */
  readonly component?: Component;
  /** The bucket of a histogram. */
  readonly le?: number | undefined;
  /** Matchers of the installation. */
  readonly within?: string;
}

/** Prometheus 3 stores a whole number as `1.0`, earlier ones as it is written. */
function bound(le: number): string {
  return Number.isInteger(le) ? matcher('le', `=~${le}|${le}\\.0`) : matcher('le', `${le}`);
}

function matcher(label: string, value: string): string {
  const [, operator = '', text = ''] = /^(=~|!=|!~)?(.*)$/.exec(value) ?? [];
  return `${label}${operator || '='}${JSON.stringify(text)}`;
}
