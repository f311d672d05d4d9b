// For each alert what Prometheus would have read when it must fire, and when it must not.

import { series } from '@course-exchange/observability/promql';
import { runtimeMetrics } from '@course-exchange/runtime/process/runtime-metrics';
import { catalogMetrics } from '../../services/design-catalog/src/metrics.ts';
import { gatewayMetrics } from '../../services/gateway/src/metrics.ts';
import { identityMetrics } from '../../services/identity/src/metrics.ts';
import { keyCases } from './key-cases.ts';
import { alive, type Input, of, type RuleCase } from './rule-case.ts';

const up = (component: string, instance = component) =>
  of(instance, `up{job="course-exchange",component="${component}"}`);
const events = (event: string, reason = '', client_id = 'unknown') =>
  of(
    'identity',
    series(runtimeMetrics.securityEvents, { event, reason, client_id }, { component: 'identity' }),
  );
const audit = (component: 'identity' | 'design-catalog', instance: string) =>
  of(instance, series(runtimeMetrics.auditSequence, {}, { component }));
const waiting = of(
  'one',
  series(
    runtimeMetrics.connectionRequests,
    { 'db.client.connection.pool.name': 'identity_rw' },
    { component: 'identity' },
  ),
);
const { redisMemory, redisSettings, redisReplicas, redisReplicasRequired, passwordHashing } = identityMetrics;
const kube = (name: string, labels: string) => `${name}{namespace="RELEASE_NAMESPACE",${labels}}`;
const deployment = 'deployment="RELEASE_NAME-gateway"';
const available = kube('kube_deployment_status_replicas_available', deployment);
const wanted = kube('kube_deployment_spec_replicas', deployment);

const callsRefused = (reason: string) =>
  series(runtimeMetrics.callsRefused, { 'rpc.method': 'courseexchange.identity.v1.Logins/Login', reason });

const allUp: Input = { [up('gateway')]: '1x60', [up('identity')]: '1x60', [up('design-catalog')]: '1x60' };
const forged = (reason: string) => series(catalogMetrics.tokensRefused, { reason });

/** After an hour. Those of the objectives are made in the test. */
export const ruleCases: Readonly<Record<string, readonly RuleCase[]>> = {
  CourseExchangeProcessDown: [
    {
      severity: 'warning',
      fires: { ...allUp, [up('gateway', 'two')]: '1x50 0x10' },
      // What else the job scrapes is not ours.
      quiet: { ...allUp, [up('demo-partner')]: '0x60' },
    },
  ],
  CourseExchangeServiceDown: [
    {
      severity: 'critical',
      // One answers no more, another one never did.
      fires: { [alive('gateway')]: '0x60', [alive('identity')]: '0x40 _x20' },
      alerts: ['identity', 'design-catalog'].map((component) => ({ component, job: 'course-exchange' })),
      // One of two is enough.
      quiet: {
        [alive('gateway')]: '0x60',
        [alive('identity')]: '0x40 _x20',
        [alive('identity', 'two')]: '0x60',
        [alive('design-catalog')]: '0x60',
      },
    },
  ],
  CourseExchangeOverload: [
    {
      severity: 'critical',
      fires: { [series(gatewayMetrics.workRefused, { work: 'token' })]: '0+60x60' },
      quiet: { [series(gatewayMetrics.workRefused, { work: 'token' })]: '0+1x60' },
    },
    {
      severity: 'critical',
      fires: { [callsRefused('the password queue is full')]: '0+60x60' },
      alerts: [{ work: 'Login', job: 'course-exchange' }],
      quiet: { [callsRefused('the password queue is full')]: '0+1x60' },
    },
  ],
  CourseExchangeHashingQueue: [
    {
      severity: 'warning',
      fires: { [of('one', series(passwordHashing, { state: 'waiting' }))]: '20x60' },
      quiet: {
        [of('one', series(passwordHashing, { state: 'waiting' }))]: '5x60',
        [of('one', series(passwordHashing, { state: 'running' }))]: '20x60',
      },
    },
  ],
  CourseExchangePoolWaits: [
    {
      severity: 'warning',
      fires: { [waiting]: '3x60' },
      // A burst.
      quiet: { [waiting]: '0x50 9x6 0x1 9x3' },
    },
  ],
  ...keyCases,
  CourseExchangeRedisMemory: [
    {
      severity: 'critical',
      fires: { [series(redisMemory)]: '0.85x60' },
      quiet: { [series(redisMemory)]: '0.7x60' },
    },
  ],
  CourseExchangeRedisSettings: [
    {
      severity: 'warning',
      fires: { [series(redisSettings)]: '1x60' },
      quiet: { [series(redisSettings)]: '0x60' },
    },
  ],
  CourseExchangeRedisReplicas: [
    {
      severity: 'critical',
      fires: { [series(redisReplicas)]: '0x60', [series(redisReplicasRequired)]: '1x60' },
      quiet: { [series(redisReplicas)]: '0x60', [series(redisReplicasRequired)]: '0x60' },
    },
  ],
  CourseExchangeTokensReplayed: [
    {
      severity: 'critical',
      fires: { [events('refresh_token.refused', 'reused', 'acme')]: '0+1x60' },
      quiet: {
        [events('refresh_token.refused', 'expired', 'acme')]: '0+9x60',
        [events('refresh_token.refused', 'reused', 'acme')]: '0x55 3x5',
      },
    },
    {
      severity: 'critical',
      // All of them between two scrapes, before which the client had none.
      fires: {
        [events('refresh_token.refused', 'reused', 'acme')]: '_x50 60x10',
        [alive('identity')]: '0x60',
      },
      alerts: [{ client_id: 'acme', job: 'course-exchange' }],
      // Prometheus did not reach the process a quarter of an hour ago.
      quiet: {
        [events('refresh_token.refused', 'reused', 'acme')]: '60x30 _x20 60x10',
        [alive('identity')]: '0x30 _x20 0x10',
      },
    },
    {
      severity: 'critical',
      fires: {
        [events('refresh_token.refused', 'reused', 'acme')]: '_x50 40+1x10',
        [alive('identity')]: '_x50 0x10',
      },
      // Prometheus is new to an old installation.
      quiet: {
        [events('refresh_token.refused', 'reused', 'acme')]: '_x50 40x10',
        [alive('identity')]: '_x50 0x10',
      },
    },
  ],
  CourseExchangePasswordGuessing: [
    {
      severity: 'critical',
      fires: {
        [events('login.refused', 'wrong_password')]: '0+9x240',
        [events('login.accepted')]: '0+1x240',
      },
      quiet: {
        [events('login.refused', 'wrong_password')]: '0+9x240',
        [events('login.accepted')]: '0+10x240',
      },
    },
    {
      severity: 'critical',
      // Hidden among many that are good.
      fires: {
        [events('login.refused', 'wrong_password')]: '0+7x200 1400+66x40',
        [events('login.accepted')]: '0+70x240',
      },
      // Many log in at once.
      quiet: {
        [events('login.refused', 'wrong_password')]: '0+7x200 1400+30x40',
        [events('login.accepted')]: '0+70x200 14000+300x40',
      },
    },
    {
      severity: 'critical',
      fires: { [events('login.throttled')]: '0+4x240', [events('login.accepted')]: '0+90x240' },
      quiet: { [events('login.throttled')]: '0+2x240', [events('login.accepted')]: '0+1x240' },
    },
  ],
  CourseExchangeClientSecretGuessing: [
    {
      severity: 'critical',
      fires: { [events('client_authentication.failed', 'unknown_client')]: '0+9x60' },
      quiet: {
        [events('client_authentication.failed', 'wrong_secret')]: '0+2x60',
        [events('client_authentication.failed', 'no_credentials')]: '0+9x60',
      },
    },
  ],
  CourseExchangeTokensForged: [
    {
      severity: 'critical',
      fires: { [forged('signature')]: '0+9x60' },
      // An ID token has another algorithm.
      quiet: { [forged('expired')]: '0+90x60', [forged('algorithm')]: '0+90x60' },
    },
  ],
  CourseExchangeAuditFell: [
    {
      severity: 'critical',
      // Also when the pod has another name afterwards.
      fires: { [audit('identity', 'one')]: '90x40 _x20', [audit('identity', 'two')]: '_x40 80x20' },
      quiet: { [audit('identity', 'one')]: '90+1x60', [audit('design-catalog', 'three')]: '5x60' },
    },
  ],
  CourseExchangeNotAvailable: [
    {
      severity: 'critical',
      fires: { [available]: '0x60' },
      quiet: { [available]: '1x60', [wanted]: '2x60' },
    },
  ],
  CourseExchangeFewerPodsThanWanted: [
    {
      severity: 'warning',
      fires: { [available]: '1x60', [wanted]: '2x60' },
      quiet: { [available]: '2x50 1x10', [wanted]: '2x60' },
    },
  ],
  CourseExchangeRestarts: [
    {
      severity: 'warning',
      fires: {
        [kube(
          'kube_pod_container_status_restarts_total',
          'pod="RELEASE_NAME-gateway-1",container="gateway"',
        )]: '0+1x60',
      },
      quiet: {
        [kube('kube_pod_container_status_restarts_total', 'pod="other-1",container="gateway"')]: '0+1x60',
      },
    },
  ],
  CourseExchangeJobFailed: [
    {
      severity: 'warning',
      fires: { [kube('kube_job_status_failed', 'job_name="RELEASE_NAME-key-rotation-1"')]: '1x60' },
      quiet: { [kube('kube_job_status_failed', 'job_name="RELEASE_NAME-key-rotation-1"')]: '0x60' },
    },
  ],
};
