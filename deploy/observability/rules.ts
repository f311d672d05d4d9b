// The files of rules, in the chart, which also a Prometheus without Kubernetes reads.
import { critical, type Group, rulesFile, warning } from './alert.ts';
import { productAlerts } from './alerts.ts';
import { eventRecordings } from './events.ts';
import { objectiveAlerts, recordings } from './objectives.ts';

/** The chart replaces both names with those of its release. */
const namespace = 'namespace="RELEASE_NAMESPACE"';
const deployment = `{${namespace},deployment=~"RELEASE_NAME-(gateway|identity|design-catalog)"}`;

const kubernetesAlerts = [
  critical(
    'NotAvailable',
    '1m',
    `kube_deployment_status_replicas_available${deployment} == 0`,
    'No pod of {{ $labels.deployment }} is available.',
  ),
  warning(
    'FewerPodsThanWanted',
    '15m',
    `kube_deployment_status_replicas_available${deployment}\n  < kube_deployment_spec_replicas${deployment}`,
    '{{ $value }} pods of {{ $labels.deployment }} are available, for 15 minutes fewer than there should be.',
  ),
  warning(
    'Restarts',
    '0m',
    `increase(kube_pod_container_status_restarts_total{${namespace},pod=~"RELEASE_NAME-.+"}[15m]) > 2`,
    '{{ $labels.container }} of {{ $labels.pod }} restarted {{ $value | humanize }} times in 15 minutes.',
  ),
  warning(
    'JobFailed',
    '0m',
    `kube_job_status_failed{${namespace},job_name=~"RELEASE_NAME-(migrations|key-rotation|audit-export).*"} > 0`,
    'The Job {{ $labels.job_name }} failed.',
  ),
];

const productGroups: readonly Group[] = [
  { name: 'objectives', interval: '1m', rules: [...recordings, ...objectiveAlerts] },
  { name: 'events', rules: eventRecordings },
  ...Object.entries(productAlerts).map(([name, rules]) => ({ name, rules })),
];

/** In the order of their groups. */
export const alerts = [objectiveAlerts, ...Object.values(productAlerts), kubernetesAlerts].flat();

/** Text by file name. */
export const rulesFiles: Readonly<Record<string, () => string>> = {
  'course-exchange.yaml': () =>
    rulesFile('Objectives and alerts of one installation, by its own metrics.', productGroups),
  'kubernetes.yaml': () =>
    rulesFile('Alerts about the pods and Jobs of a release, by kube-state-metrics.', [
      { name: 'kubernetes', rules: kubernetesAlerts },
    ]),
};
