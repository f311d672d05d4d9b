// How a dashboard is put together: panels of queries over one installation, which variables at its top choose. Built with
// Grafana's own types, so that what Grafana would not read does not compile.
import type { Metric } from '@course-exchange/runtime/process/metrics';
import { runtimeMetrics } from '@course-exchange/runtime/process/runtime-metrics';
import {
  type Dashboard,
  DashboardBuilder,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  RowBuilder,
  VariableRefresh,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder } from '@grafana/grafana-foundation-sdk/timeseries';
import { recent } from './events.ts';
import { seriesName, series as seriesWithin } from './promql.ts';

/** A matcher for each variable: all installations where none is chosen. */
export const chosen = 'job=~"$job",namespace=~"$namespace"';
/** What every process has, whether it is scraped or pushes. */
const everywhere = seriesName(runtimeMetrics.eventLoopUtilization);
const datasource = { type: 'prometheus', uid: '$datasource' };

export function series<M extends Metric>(
  metric: M,
  matchers: Parameters<typeof seriesWithin<M>>[1] = {},
): string {
  return seriesWithin(metric, matchers, { within: chosen });
}

/** By labels of their counter; `about` of a panel says that they are of a quarter of an hour. */
export function events<Name extends Parameters<typeof recent>[0]>(
  by: string,
  name: Name,
  matchers: Parameters<typeof recent<Name>>[1] = {},
  what = '',
): Queries {
  return { [legendOf(by, what)]: `sum by (${by}) (${recent(name, matchers, chosen)})` };
}

/** Each second, by labels, over Grafana's own interval. */
export function rate(by: string, counted: string): Queries {
  return { [legendOf(by)]: `sum by (${by}) (rate(${counted}[$__rate_interval]))` };
}

/** Seconds that 99 % stay below, by labels of a histogram; `what` begins the legend. */
export function slowest(by: string, metric: Metric, what = ''): Queries {
  const buckets = `${seriesName(metric, 'bucket')}{${chosen}}`;
  const seconds = `histogram_quantile(0.99, sum by (le, ${by}) (rate(${buckets}[$__rate_interval])))`;
  return { [legendOf(by, what)]: seconds };
}

/** `count`, `max` or `sum` of a gauge, by labels. */
export function gauge(how: 'count' | 'max' | 'sum', by: string, of: string, what = ''): Queries {
  return { [legendOf(by, what)]: `${how} by (${by}) (${of})` };
}

function legendOf(by: string, what = ''): string {
  return `${what} ${by.replaceAll(/\w+/g, '{{$&}}').replaceAll(',', '')}`.trim();
}

/** Query by its legend. */
export type Queries = Readonly<Record<string, string>>;

/** `about` says what one should see; the unit is as Grafana calls it: `s`, `reqps`, `percentunit`, else `short`. */
type Panel = readonly [about: string, queries: Queries, unit?: string];

export interface DashboardSource {
  readonly uid: string;
  readonly title: string;
  readonly about: string;
  /** Names of labels to choose further by, and the metric that has them. */
  readonly variables?: Readonly<Record<string, Metric>>;
  /** Panels by title, by the question that they answer. */
  readonly rows: Readonly<Record<string, Readonly<Record<string, Panel>>>>;
}

export function dashboardOf({ uid, title, about, variables = {}, rows }: DashboardSource): Dashboard {
  const builder = new DashboardBuilder(title)
    .uid(uid)
    .description(about)
    .tags(['course-exchange'])
    .readonly()
    .refresh('1m')
    .time({ from: 'now-6h', to: 'now' })
    .withVariable(new DatasourceVariableBuilder('datasource').label('Prometheus').type('prometheus'))
    .withVariable(labelVariable('job', everywhere))
    .withVariable(labelVariable('namespace', `${everywhere}{job=~"$job"}`).allValue('.*'));
  for (const [label, metric] of Object.entries(variables))
    builder.withVariable(labelVariable(label, `${seriesName(metric)}{${chosen}}`, false));
  for (const [name, panels] of Object.entries(rows)) {
    builder.withRow(new RowBuilder(name));
    for (const [of, panel] of Object.entries(panels)) builder.withPanel(panelOf(of, panel));
  }
  return builder.build();
}

function labelVariable(label: string, of: string, all = true): QueryVariableBuilder {
  return new QueryVariableBuilder(label)
    .label(label)
    .query(`label_values(${of}, ${label})`)
    .datasource(datasource)
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .includeAll(all)
    .multi(all);
}

function panelOf(title: string, [about, queries, unit = 'short']: Panel): PanelBuilder {
  const panel = new PanelBuilder().title(title).description(about).unit(unit).datasource(datasource);
  panel.span(8).height(8).axisSoftMin(0);
  for (const [index, [legend, expr]] of Object.entries(queries).entries()) {
    const query = new DataqueryBuilder().expr(expr).legendFormat(legend).range().datasource(datasource);
    panel.withTarget(query.refId(String.fromCharCode(65 + index)));
  }
  return panel;
}
