// For each alert what Prometheus would have read when it must just fire, and when it must not yet.
import { type Component, series } from '@course-exchange/observability/promql';
import { runtimeMetrics } from '@course-exchange/runtime/process/runtime-metrics';
import { catalogMetrics } from '../../services/design-catalog/src/metrics.ts';
import { gatewayMetrics } from '../../services/gateway/src/metrics.ts';
import { identityMetrics } from '../../services/identity/src/metrics.ts';

/** Values of series, one a minute, in promtool's notation. */
export type Input = Readonly<Record<string, string>>;

interface RuleCase {
  readonly fires: Input;
  /** How many alerts fire then, by default one: each part of a rule that has several sets off one. */
  readonly alerts?: number;
  readonly quiet: Input;
  /** When it is evaluated, by default after an hour. */
  readonly minutes?: number;
}

/** The value of a series changed this many minutes ago. */
const since = (minutes: number, before: string | number, now: string | number) =>
  `${before}x${59 - minutes} ${now}x${minutes}`;

/** A series that changes from the limit, or what is well, as long ago as the rule asks, and a minute less. */
const lasting = (
  name: string,
  minutes: number,
  before: number,
  now: number,
  beside: Input = {},
): RuleCase => ({
  fires: { [name]: since(minutes, before, now), ...beside },
  quiet: { [name]: since(minutes - 1, before, now), ...beside },
});

/** The series of one process, or of another installation. */
export const of = (instance: string, text: string) => text.replace(/\}$/, `,instance="${instance}"}`);
const at = (namespace: string, text: string) => text.replace(/\}$/, `,namespace="${namespace}"}`);
export const alive = (component: Component, instance: string = component) =>
  of(instance, series(runtimeMetrics.eventLoopUtilization, {}, { component }));
const up = (component: string, instance = component) =>
  of(instance, `up{job="course-exchange",component="${component}"}`);

/** Security events, each as `event reason client`, of a process that has always been there. */
function events(counted: Input, namespace = ''): Input {
  const all: Record<string, string> = { [at(namespace, alive('identity'))]: '0x240' };
  for (const [words, values] of Object.entries(counted)) {
    const [event = '', reason = '', client_id = 'unknown'] = words.split(' ');
    const labels = { event, reason, client_id };
    const name = series(runtimeMetrics.securityEvents, labels, { component: 'identity' });
    all[at(namespace, of('identity', name))] = values;
  }
  return all;
}
const logins = (at: string, refused: string, accepted: string, how = 'login.refused wrong_password') =>
  events({ [how]: refused, 'login.accepted': accepted }, at);
/** `count` events, of which the first began the series. */
const begun = (count: number, minutes = 60) => `_x${minutes - 11} ${count}x11`;
/** The catalog's have the name of identity's. */
const forged = (component: 'identity' | 'design-catalog', reason: string) =>
  of(component, series(catalogMetrics.tokensRefused, { reason }, { component }));
const hashing = (state: string) => of('identity', series(identityMetrics.passwordHashing, { state }));
const halfFull = (client_id: string) =>
  of('identity', series(identityMetrics.familiesHalfFull, { client_id }, { component: 'identity' }));
const poolName = { 'db.client.connection.pool.name': 'identity_rw' };
const pool = of('identity', series(runtimeMetrics.connectionRequests, poolName, { component: 'identity' }));
const audit = (component: 'identity' | 'design-catalog', instance: string) =>
  of(instance, series(runtimeMetrics.auditSequence, {}, { component }));
const required = series(identityMetrics.redisReplicasRequired);

const tokensRefused = series(gatewayMetrics.workRefused, { work: 'token' });
const loginsRefused = series(runtimeMetrics.callsRefused, {
  'rpc.method': 'courseexchange.identity.v1.Logins/Login',
});

const day = 86_400;
const key = (instance: string, kid: string, state = 'active') =>
  of(instance, series(identityMetrics.signingKeyAge, { kid, algorithm: 'ES256', state }));
const catalogKey = (instance: string, kid: string) =>
  of(instance, series(catalogMetrics.verificationKeys, { kid }));
const secret = (client_id: string, secret_id = 'one') =>
  series(identityMetrics.secretExpiry, { client_id, secret_id });

const kube = (name: string, labels: string) => `${name}{namespace="RELEASE_NAMESPACE",${labels}}`;
const deployment = 'deployment="RELEASE_NAME-gateway"';
const available = kube('kube_deployment_status_replicas_available', deployment);
const wanted = kube('kube_deployment_spec_replicas', deployment);
const restarts = (pod: string) =>
  kube('kube_pod_container_status_restarts_total', `pod="${pod}",container="gateway"`);
const failed = (job: string) => kube('kube_job_status_failed', `job_name="${job}"`);

/** Those of the objectives are made in the test. */
export const ruleCases: Readonly<Record<string, RuleCase>> = {
  'ProcessDown warning': {
    fires: { [up('gateway')]: '1x60', [up('gateway', 'two')]: since(2, 1, 0) },
    // What else the job scrapes is not ours.
    quiet: { [up('gateway', 'two')]: since(1, 1, 0), [up('demo-partner')]: '0x60' },
  },
  'ServiceDown critical': {
    // One answers no more, another one has not for long, the third one never did.
    fires: { [alive('gateway')]: '0x57 stale', [alive('identity')]: '0x40 stale' },
    alerts: 3,
    // One of two is enough.
    quiet: {
      [alive('gateway')]: '0x58 stale',
      [alive('identity')]: '0x40 stale',
      [alive('identity', 'two')]: '0x60',
      [alive('design-catalog')]: '0x60',
    },
  },
  'Overload critical': {
    fires: { [tokensRefused]: '0+13x60', [loginsRefused]: '0x54 100+100x5' },
    alerts: 2,
    quiet: { [tokensRefused]: '0+11x60', [loginsRefused]: '0x55 100+100x4' },
  },
  'HashingQueue warning': lasting(hashing('waiting'), 5, 10, 11, { [hashing('running')]: '20x60' }),
  'PoolWaits warning': lasting(pool, 5, 0, 1),
  'SigningKeyOld warning': {
    fires: { [key('one', 'old')]: `${100 * day + 1}+60x60` },
    quiet: {
      [key('one', 'old')]: `${100 * day - 59}+60x60`,
      [key('one', 'older', 'superseded')]: `${200 * day}x60`,
    },
  },
  'SigningKeyNotEverywhere critical': {
    // Two of identity sign with different keys; so do two of the catalog check, with others still; a third has none.
    fires: {
      [key('one', 'a')]: '60x60',
      [key('two', 'b')]: '60x60',
      [alive('design-catalog', 'three')]: '0x60',
      [catalogKey('three', 'c')]: '1x60',
      [alive('design-catalog', 'four')]: '0x60',
      [catalogKey('four', 'd')]: '1x60',
      [alive('design-catalog', 'five')]: '_x58 0x2',
    },
    // a, b; c, d; five; and the whole catalog knows no key that signs.
    alerts: 6,
    quiet: {
      [key('one', 'new')]: '60x60',
      // The catalog knows one algorithm.
      [key('one', 'rsa')]: '60x60',
      [catalogKey('three', 'new')]: '1x60',
      [alive('design-catalog', 'four')]: '_x59 0x1',
      // Identity is down, or not scraped: another alert says so.
      [at('alone', alive('design-catalog', 'three'))]: '0x60',
      [at('alone', catalogKey('three', 'new'))]: '1x60',
    },
  },
  'ClientSecretExpires warning': {
    fires: { [secret('acme')]: `${14 * day - 1}x60` },
    // The second client keeps another one.
    quiet: {
      [secret('acme')]: `${14 * day}x60`,
      [secret('other')]: `${day}x60`,
      [secret('other', 'two')]: Array(60).fill('Inf').join(' '),
    },
  },
  'ClientSecretExpires critical': {
    // Another one has expired.
    fires: { [secret('acme')]: `${2 * day - 1}x60`, [secret('other')]: `-${day}x60` },
    alerts: 2,
    quiet: { [secret('acme')]: `${2 * day}x60` },
  },
  'RedisMemory critical': lasting(series(identityMetrics.redisMemory), 5, 0.8, 0.81),
  'RedisSettings warning': lasting(series(identityMetrics.redisSettings), 5, 0, 1),
  'RedisReplicas critical': lasting(series(identityMetrics.redisReplicas), 2, 2, 1, { [required]: '2x60' }),
  'TokensReplayed critical': {
    fires: events({ 'refresh_token.refused reused acme': begun(3), 'code.refused replayed acme': begun(3) }),
    quiet: events({
      'refresh_token.refused reused acme': begun(3),
      'code.refused replayed acme': begun(2),
      'refresh_token.refused expired acme': begun(90),
      'refresh_token.refused reused other': begun(5),
    }),
  },
  'ClientRefreshFamilies warning': {
    fires: { [alive('identity')]: '0x60', [halfFull('one')]: begun(1), [halfFull('two')]: '7x50 8x10' },
    alerts: 2,
    // The process has known them for longer.
    quiet: { [alive('identity')]: '0x60', [halfFull('one')]: '500x60' },
  },
  'PasswordGuessing critical': {
    minutes: 240,
    fires: {
      // More than are accepted; hidden among many that are, but more than usual; throttled.
      ...logins('more', begun(51, 240), begun(50, 240)),
      ...logins('hidden', '0+5x200 1000+11x40', '0+40x240'),
      ...logins('throttled', begun(51, 240), '0+90x240', 'login.throttled'),
    },
    alerts: 3,
    quiet: {
      ...logins('few', begun(50, 240), begun(0, 240)),
      ...logins('as many', begun(51, 240), begun(51, 240)),
      ...logins('among more', '0+5x200 1000+11x40', '0+45x240'),
      ...logins('as usual', '0+6x200 1200+11x40', '0+40x240'),
      ...logins('throttled', begun(50, 240), '0+90x240', 'login.throttled'),
    },
  },
  'ClientSecretGuessing critical': {
    fires: events({
      'client_authentication.failed wrong_secret': begun(26),
      'client_authentication.failed unknown_client': begun(25),
    }),
    quiet: events({
      'client_authentication.failed wrong_secret': begun(50),
      'client_authentication.failed no_credentials': begun(90),
    }),
  },
  'TokensForged critical': {
    fires: {
      [alive('identity')]: '0x60',
      [alive('design-catalog')]: '0x60',
      [forged('identity', 'issuer')]: begun(7),
      [forged('design-catalog', 'signature')]: begun(7),
      [forged('design-catalog', 'audience')]: begun(7),
    },
    quiet: {
      [alive('identity')]: '0x60',
      [alive('design-catalog')]: '0x60',
      [forged('design-catalog', 'signature')]: begun(20),
      [forged('identity', 'expired')]: begun(90),
      // That of an ID token.
      [forged('identity', 'algorithm')]: begun(90),
    },
  },
  'AuditFell critical': {
    // By new entries that pass the old end, and by a pod that has another name afterwards.
    fires: {
      [audit('identity', 'one')]: '22x54 17 27x4',
      [audit('design-catalog', 'two')]: '90x40 stale',
      [audit('design-catalog', 'three')]: '_x41 89x20',
    },
    alerts: 2,
    quiet: { [audit('identity', 'one')]: '22x55 17 27x3', [audit('design-catalog', 'three')]: '5x60' },
  },
  'NotAvailable critical': lasting(available, 1, 1, 0),
  'FewerPodsThanWanted warning': lasting(available, 15, 2, 1, { [wanted]: '2x60' }),
  'Restarts warning': {
    fires: { [restarts('RELEASE_NAME-gateway-1')]: since(10, 0, 3) },
    quiet: { [restarts('RELEASE_NAME-gateway-1')]: since(10, 0, 1), [restarts('other-1')]: since(10, 0, 9) },
  },
  'JobFailed warning': {
    fires: { [failed('RELEASE_NAME-key-rotation-1')]: '1x60' },
    quiet: { [failed('RELEASE_NAME-key-rotation-1')]: '0x60', [failed('other-1')]: '1x60' },
  },
};
