// What Prometheus would have read about an alert, and how its series are written.
import { type Component, series } from '@course-exchange/observability/promql';
import { runtimeMetrics } from '@course-exchange/runtime/process/runtime-metrics';

/** Values of series, one a minute, in promtool's notation. */
export type Input = Readonly<Record<string, string>>;

export interface RuleCase {
  readonly severity: 'critical' | 'warning';
  readonly fires: Input;
  readonly quiet: Input;
  /** Labels of the alerts that fire, beside name and severity, where it matters which they are. */
  readonly alerts?: readonly Readonly<Record<string, string>>[];
}

/** The series of one process. */
export const of = (instance: string, text: string) => text.replace(/\}$/, `,instance="${instance}"}`);
export const alive = (component: Component, instance: string = component) =>
  of(instance, series(runtimeMetrics.eventLoopUtilization, {}, { component }));
