// Events too rare for a rate: how many there were within a quarter of an hour. Recorded, so that alerts, dashboards and
// the runbook count them alike.
import type { Metric } from '@course-exchange/runtime/process/metrics';
import { runtimeMetrics } from '@course-exchange/runtime/process/runtime-metrics';
import { gatewayMetrics } from '../../services/gateway/src/metrics.ts';
import { identityMetrics } from '../../services/identity/src/metrics.ts';
import type { Recording } from './alert.ts';
import { release, scope, series, seriesName } from './promql.ts';

/** The catalog's refused access tokens have the name of identity's. */
const counted = {
  security_events: runtimeMetrics.securityEvents,
  tokens_refused: identityMetrics.tokensRefused,
  authorizations_refused: identityMetrics.authorizationsRefused,
  access_tokens_refused: identityMetrics.accessTokensRefused,
  client_acts: identityMetrics.clientActs,
  refresh_families_half_full: identityMetrics.familiesHalfFull,
  consents_shown: identityMetrics.consentsShown,
  client_requests: gatewayMetrics.clientRequests,
  work_refused: gatewayMetrics.workRefused,
  calls_refused: runtimeMetrics.callsRefused,
} as const;

type Counted = typeof counted;

const within = '15m';
const recordOf = (name: keyof Counted) => `course_exchange:${name}:increase${within}`;

/** Events of the last quarter of an hour, by labels of their counter; `matchers` as of `series`. */
export function recent<Name extends keyof Counted>(
  name: Name,
  matchers: Parameters<typeof series<Counted[Name]>>[1] = {},
  installation = scope,
): string {
  return series(counted[name], matchers, { within: installation }).replace(
    seriesName(counted[name]),
    recordOf(name),
  );
}

const ofProcess = `${release}, instance`;
const readings = (of: string) => `count_over_time(${of}[${within}])`;

/**
 * `increase` does not see the first value of a series. It counts where the process has been read more often: what is old,
 * and only Prometheus, the job or its namespace is new, is no event of now.
 */
function recordingOf([name, metric]: readonly [string, Metric]): Recording {
  const labels = metric.definition.labels.map((label) => label.replaceAll('.', '_'));
  const events = series(metric);
  const reading = readings(series(runtimeMetrics.eventLoopUtilization));
  return {
    record: recordOf(name as keyof Counted),
    expr: [
      `sum by (${[release, 'component', ...labels].join(', ')}) (`,
      `  (${events} unless ${events} offset ${within}`,
      `    and ${readings(events)} < on (${ofProcess}) group_left () max by (${ofProcess}) (${reading}))`,
      `  or increase(${events}[${within}])`,
      ')',
    ].join('\n'),
  };
}

export const eventRecordings: readonly Recording[] = Object.entries(counted).map(recordingOf);
