// What the chart refuses of the values of pods.
import type { Row } from './production-refusals.ts';

const withDemoPartner = (own: object) => ({
  demoPartner: { enabled: true, existingSecret: 'a', publicUrl: 'https://planner.test', ...own },
});

export const ofPods: readonly Row[] = [
  [
    'a pod killed in the middle',
    { defaults: { terminationGracePeriodSeconds: 30 } },
    'gateway.terminationGracePeriodSeconds is too short: it must be more than 30',
  ],
  [
    'fewer pods at most than at least',
    { gateway: { autoscaling: { enabled: true, minReplicas: 5, maxReplicas: 4 } } },
    'gateway.autoscaling.maxReplicas is less than minReplicas: raise it.',
  ],
  [
    'a budget that keeps every pod',
    { defaults: { podDisruptionBudget: { maxUnavailable: 0 } } },
    'gateway.podDisruptionBudget.maxUnavailable is 0: no node could be drained; set it to 1 or more.',
  ],
  [
    'a budget that keeps all shares',
    { identity: { podDisruptionBudget: { maxUnavailable: '0%' } } },
    'identity.podDisruptionBudget.maxUnavailable is 0%: no node could be drained',
  ],
  [
    'a variable that the chart sets',
    { gateway: { extraEnv: [{ name: 'ISSUER', value: 'https://other.test' }] } },
    'gateway.extraEnv names ISSUER, which the chart sets: leave it out and change the value that it is made from.',
  ],
  [
    'a variable that all pods have',
    { defaults: { extraEnv: [{ name: 'LOG_LEVEL', value: 'debug' }] } },
    'designCatalog.extraEnv names LOG_LEVEL, which the chart sets',
  ],
  [
    'a password beside its file',
    { identity: { extraEnv: [{ name: 'POSTGRES_PASSWORD', value: 'password' }] } },
    'identity.extraEnv names POSTGRES_PASSWORD, which the chart sets',
  ],
  [
    'a variable of a migration',
    { migrations: { extraEnv: [{ name: 'MIGRATOR_POSTGRES_URL', value: 'postgres://other' }] } },
    'migrations.extraEnv names MIGRATOR_POSTGRES_URL, which the chart sets',
  ],
  [
    'a variable of the demo partner',
    withDemoPartner({ extraEnv: [{ name: 'PUBLIC_URL', value: 'https://other.test' }] }),
    'demoPartner.extraEnv names PUBLIC_URL, which the chart sets',
  ],
  [
    'a variable of the tests',
    { tests: { extraEnv: [{ name: 'CONTRACT_ISSUER', value: 'https://other.test' }] } },
    'tests.extraEnv names CONTRACT_ISSUER, which the chart sets',
  ],
  [
    'a variable that is there twice',
    {
      gateway: {
        extraEnv: [
          { name: 'NODE_EXTRA_CA_CERTS', value: '/one' },
          { name: 'NODE_EXTRA_CA_CERTS', value: '/other' },
        ],
      },
    },
    'gateway.extraEnv names NODE_EXTRA_CA_CERTS twice: leave one of them out.',
  ],
  [
    'a label that selectors read',
    { gateway: { podLabels: { 'app.kubernetes.io/component': 'other' } } },
    'gateway.podLabels names app.kubernetes.io/component, which the chart sets: leave it out.',
  ],
  [
    'another name for every object',
    { commonLabels: { 'app.kubernetes.io/name': 'other' } },
    'commonLabels names app.kubernetes.io/name, which the chart sets',
  ],
  [
    'another instance for every pod',
    { defaults: { podLabels: { 'app.kubernetes.io/instance': 'other' } } },
    'defaults.podLabels names app.kubernetes.io/instance, which the chart sets',
  ],
  [
    'a label that is there twice',
    { commonLabels: { team: 'one' }, identity: { podLabels: { team: 'other' } } },
    'identity.podLabels names team, as commonLabels does: leave it out in one of them.',
  ],
  [
    'a label of metrics that is there twice',
    { commonLabels: { release: 'one' }, metrics: { prometheusRule: { labels: { release: 'other' } } } },
    'metrics.prometheusRule.labels names release, as commonLabels does',
  ],
];
