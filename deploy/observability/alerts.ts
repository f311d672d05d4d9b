// Alerts about what the objectives do not show, or not before it is too late: keys, secrets, stores, abuse, queues.
import { runtimeMetrics } from '@course-exchange/runtime/process/runtime-metrics';
import { catalogMetrics } from '../../services/design-catalog/src/metrics.ts';
import { gatewayMetrics } from '../../services/gateway/src/metrics.ts';
import { identityMetrics } from '../../services/identity/src/metrics.ts';
import { critical, warning } from './alert.ts';
import { recent } from './events.ts';
import { type Component, release, scope, series } from './promql.ts';

const components: readonly Component[] = ['gateway', 'identity', 'design-catalog'];
const ours = `component=~"${components.join('|')}"`;
const { signingKeyAge, secretExpiry, passwordHashing } = identityMetrics;
const { connectionRequests, auditSequence, eventLoopUtilization } = runtimeMetrics;
const day = 86_400;

const processes = [
  warning(
    'ProcessDown',
    '2m',
    `up{${scope},${ours}} == 0`,
    '{{ $labels.component }} at {{ $labels.instance }} has not answered Prometheus for 2 minutes.',
  ),
  critical(
    'ServiceDown',
    '2m',
    // Not by `up`, which is not there where metrics are pushed. `absent` of a comparison would have no labels.
    components
      .map((component) => `absent(${series(eventLoopUtilization, {}, { component })})`)
      .join('\nor\n'),
    'Prometheus has had no metrics of {{ $labels.component }} for 2 minutes: no process of it is up.',
  ),
  critical(
    'Overload',
    '5m',
    [
      `sum by (${release}, work) (`,
      `  rate(${series(gatewayMetrics.workRefused)}[5m])`,
      `  or label_replace(rate(${series(runtimeMetrics.callsRefused)}[5m]), "work", "$1", "rpc_method", ".+/(.+)")`,
      ') > 0.2',
    ].join('\n'),
    'Overload: {{ $value | humanize }} requests of {{ $labels.work }} have been refused each second for 5 minutes.',
  ),
  warning(
    'HashingQueue',
    '5m',
    `${series(passwordHashing, { state: 'waiting' })} > 10`,
    '{{ $value }} logins are queued for hashing in {{ $labels.instance }}; the queue has held more than 10 for 5 minutes.',
  ),
  warning(
    'PoolWaits',
    '5m',
    `${series(connectionRequests)} > 0`,
    '{{ $value }} statements of {{ $labels.component }} at {{ $labels.instance }} wait for a connection to Postgres; the queue has not been empty for 5 minutes.',
  ),
];

const everyKey = series(signingKeyAge);
const activeKeys = series(signingKeyAge, { state: 'active' });
const catalogKeys = series(catalogMetrics.verificationKeys);
/** Keys that some processes have and others lack. */
const notInAll = (keys: string, by: string) =>
  [
    `count by (${release}, ${by}) (${keys})`,
    `  < on (${release}) group_left ()`,
    `count by (${release}) (count by (${release}, instance) (${keys}))`,
  ].join('\n');

const keysAndSecrets = [
  warning(
    'SigningKeyOld',
    '1h',
    `max by (${release}, kid, algorithm) (${activeKeys}) > ${100 * day}`,
    'The signing key {{ $labels.kid }} has been active for {{ $value | humanizeDuration }}: keys are not rotated.',
  ),
  critical(
    'SigningKeyNotEverywhere',
    '2m',
    [
      notInAll(everyKey, 'kid, state'),
      'or',
      notInAll(catalogKeys, 'kid'),
      'or',
      // A process has no key at all.
      series(eventLoopUtilization, {}, { within: `${scope},component=~"identity|design-catalog"` }),
      `  unless on (${release}, instance) (${everyKey} or ${catalogKeys})`,
      'or',
      // None of the keys that sign is known where access tokens are checked.
      `count by (${release}) (${catalogKeys})`,
      `  and on (${release}) ${activeKeys}`,
      `  unless on (${release}) (${activeKeys} and on (${release}, kid) ${catalogKeys})`,
    ].join('\n'),
    'For 2 minutes processes have known different signing keys: some refuse good tokens.',
  ),
  warning(
    'ClientSecretExpires',
    '0m',
    `max by (${release}, client_id) (${series(secretExpiry)}) < ${14 * day}`,
    'The last secret of the client {{ $labels.client_id }} expires in {{ $value | humanizeDuration }}.',
  ),
  critical(
    'ClientSecretExpires',
    '0m',
    `max by (${release}, client_id) (${series(secretExpiry)}) < ${2 * day}`,
    'The last secret of the client {{ $labels.client_id }} expires in {{ $value | humanizeDuration }}; a negative time means that it has expired.',
  ),
];

const redis = [
  critical(
    'RedisMemory',
    '5m',
    `max by (${release}) (${series(identityMetrics.redisMemory)}) > 0.8`,
    'Redis uses {{ $value | humanizePercentage }} of maxmemory: when it is full, logins and refreshes fail.',
  ),
  warning(
    'RedisSettings',
    '5m',
    `max by (${release}) (${series(identityMetrics.redisSettings)}) > 0`,
    '{{ $value }} settings of Redis are wrong: it may lose tokens, or bring used ones back.',
  ),
  critical(
    'RedisReplicas',
    '2m',
    `min by (${release}) (${series(identityMetrics.redisReplicas)})\n  < max by (${release}) (${series(identityMetrics.redisReplicasRequired)})`,
    'Redis has {{ $value }} replicas, fewer than REDIS_MIN_REPLICAS: codes and refresh tokens are answered 503.',
  ),
];

const events = (by: string, matchers: Parameters<typeof recent<'security_events'>>[1]) =>
  `sum by (${by}) (${recent('security_events', matchers)})`;

const refusedLogins = { event: '=~login.refused|login.throttled' };
const refused = events(release, refusedLogins);
const accepted = `(${events(release, { event: 'login.accepted' })} or 0 * ${refused})`;
/**
 * What each reason stayed below for 99 % of a week, busy mornings included, in sum: somewhat more than all of them together
 * did. An attack of an hour does not become usual.
 */
const usual = `sum by (${release}) (quantile_over_time(0.99, ${recent('security_events', refusedLogins)}[7d] offset 1h))`;

const auditEnd = `max by (${release}, component) (${series(auditSequence)})`;

const abuse = [
  critical(
    'TokensReplayed',
    '0m',
    `${events(`${release}, client_id`, { event: '=~code.refused|refresh_token.refused', reason: '=~replayed|reused' })} > 5`,
    '{{ $value | humanize }} used codes or refresh tokens of {{ $labels.client_id }} were presented again in 15 minutes: they were stolen, or the client is faulty.',
  ),
  warning(
    'ClientRefreshFamilies',
    '0m',
    `sum by (${release}, client_id) (${recent('refresh_families_half_full')}) > 0`,
    'Users of {{ $labels.client_id }} have at least half of MAX_REFRESH_FAMILIES with it: it logs in again instead of refreshing. Beyond that, its old connections end.',
  ),
  critical(
    'PasswordGuessing',
    '0m',
    [
      `${refused} > 50`,
      `and (${refused} > ${accepted}`,
      `  or ${refused} > ${accepted} / 4 and ${refused} > 2 * ${usual})`,
      `or ${events(release, { event: 'login.throttled' })} > 50`,
    ].join('\n'),
    '{{ $value | humanize }} logins were refused in 15 minutes, far more than usual or than were accepted: probably password guessing.',
  ),
  critical(
    'ClientSecretGuessing',
    '0m',
    `${events(release, { event: 'client_authentication.failed', reason: '!=no_credentials' })} > 50`,
    '{{ $value | humanize }} token requests in 15 minutes had a wrong client secret or an unknown client.',
  ),
  critical(
    'TokensForged',
    '0m',
    `sum by (${release}) (${recent('access_tokens_refused', { reason: '=~signature|issuer|audience' })}) > 20`,
    '{{ $value | humanize }} access tokens in 15 minutes had a wrong signature, issuer or audience: they were forged, or belong to another service.',
  ),
  critical(
    'AuditFell',
    '5m',
    [
      `${auditEnd} < max by (${release}, component) (max_over_time(${series(auditSequence)}[1d]))`,
      // After a restore the fence's own entries soon pass the old end.
      `or ${auditEnd} and max by (${release}, component) (resets(${series(auditSequence)}[1d])) > 0`,
    ].join('\n'),
    'The audit log of {{ $labels.component }} lost entries in the last day and now ends at entry {{ $value }}: it was restored, or entries were deleted.',
  ),
];

export const productAlerts = { processes, 'keys-and-secrets': keysAndSecrets, redis, abuse };
