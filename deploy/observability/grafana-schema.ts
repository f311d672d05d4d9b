// Grafana's schema of a dashboard, by the types that its makers generate from it, as the JSON has it: a panel here is a time
// series, its queries are Prometheus', an enumeration is its values.
import type { Dashboard, FieldConfig, Panel } from '@grafana/grafana-foundation-sdk/dashboard';
import type { Dataquery } from '@grafana/grafana-foundation-sdk/prometheus';
import type { Options, FieldConfig as TimeSeriesStyle } from '@grafana/grafana-foundation-sdk/timeseries';

type Written<T> = T extends string
  ? `${T}`
  : T extends readonly (infer Item)[]
    ? Written<Item>[]
    : T extends object
      ? { readonly [Key in keyof T as Key extends `_${string}` ? never : Key]: Written<T[Key]> }
      : T;

type Replaced<T, By> = Omit<T, keyof By> & By;

type Fields = Replaced<FieldConfig, { custom?: TimeSeriesStyle }>;
type TimeSeries = Replaced<
  Panel,
  {
    type: 'timeseries';
    targets?: Dataquery[];
    options?: Options;
    fieldConfig?: Replaced<NonNullable<Panel['fieldConfig']>, { defaults: Fields }>;
  }
>;
type Row = Extract<NonNullable<Dashboard['panels']>[number], { collapsed: boolean }>;

export type WrittenDashboard = Written<Replaced<Dashboard, { panels: (TimeSeries | Row)[] }>>;
