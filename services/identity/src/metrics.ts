// Identity's metrics, besides those of every process. `readiness.ts` reads the gauges.
import { counter, gauge, upDownCounter } from '@course-exchange/runtime/process/metrics';

export const identityMetrics = {
  tokensIssued: counter({
    name: 'course_exchange.tokens.issued',
    unit: '{response}',
    labels: ['grant_type', 'client_id'],
    about: 'Grants that became tokens',
  }),
  tokensRefused: counter({
    name: 'course_exchange.tokens.refused',
    unit: '{response}',
    labels: ['error.type', 'reason', 'client_id'],
    about:
      'Token requests refused, by public code and internal reason, which a fault does not have; `client_id` of an authenticated client',
  }),
  authorizationsRefused: counter({
    name: 'course_exchange.authorizations.refused',
    unit: '{response}',
    labels: ['error.type', 'reason', 'client_id'],
    about:
      'Authorization requests answered with an error, directly or by redirect, by code and reason; `client_id` is the registered client that is named, not authenticated',
  }),
  accessTokensRefused: counter({
    name: 'course_exchange.access_tokens.refused',
    unit: '{token}',
    labels: ['reason', 'client_id'],
    about:
      'Access tokens refused at user-info; `subject`: its user is disabled or gone; `client_id` of a token that we signed',
  }),
  refusalRecordsLost: counter({
    name: 'course_exchange.refusal_records.lost',
    unit: '{record}',
    labels: ['reason'],
    about:
      'Refusals without a record for support: the `quota` of a minute or the `queue` is full, or `postgres` failed',
  }),
  clientActs: counter({
    name: 'course_exchange.client.acts',
    unit: '{act}',
    labels: ['act', 'client_id'],
    about:
      'What authenticated clients did that keeps or breaks a duty (`partnerctl client conduct`); `authorization_request` counts requests that name the client',
  }),
  familiesHalfFull: counter({
    name: 'course_exchange.refresh_families.half_full',
    unit: '{exchange}',
    labels: ['client_id'],
    about:
      'Code exchanges after which a user and the client had at least half of `MAX_REFRESH_FAMILIES` connections',
  }),
  consentsShown: counter({
    name: 'course_exchange.consents.shown',
    unit: '{page}',
    labels: ['client_id'],
    about: 'Consent pages shown; decisions are security events (`consent.given`, `consent.denied`)',
  }),
  passwordHashing: upDownCounter({
    name: 'course_exchange.password_hashing.logins',
    unit: '{login}',
    labels: ['state'],
    about: 'Logins whose password is being hashed (`running`) or queued (`waiting`)',
  }),
  signingKeyAge: gauge({
    name: 'course_exchange.signing_key.age',
    unit: 's',
    labels: ['kid', 'algorithm', 'state'],
    about:
      'Time that each published key has been in its state, as this process knows it: `active` signs, `staged` is next',
  }),
  secretExpiry: gauge({
    name: 'course_exchange.client_secret.expires_in',
    unit: 's',
    labels: ['client_id', 'secret_id'],
    about:
      'Time until a valid client secret expires; infinite if it never does; below 0 for the expired last secret of an active client',
  }),
  redisMemory: gauge({
    name: 'course_exchange.redis.memory',
    unit: '1',
    labels: [],
    about: 'Share of `maxmemory` in use on the fullest master; absent without `maxmemory`',
  }),
  redisSettings: gauge({
    name: 'course_exchange.redis.wrong_settings',
    unit: '{setting}',
    labels: [],
    about: 'Settings by which Redis may lose tokens or bring them back; `/healthz` names them',
  }),
  redisReplicas: gauge({
    name: 'course_exchange.redis.replicas',
    unit: '{replica}',
    labels: [],
    about: 'Replicas that acknowledged writes within the last seconds, on the master with the fewest',
  }),
  redisReplicasRequired: gauge({
    name: 'course_exchange.redis.replicas_required',
    unit: '{replica}',
    labels: [],
    about: '`REDIS_MIN_REPLICAS`: with fewer replicas, codes and refresh tokens are answered 503',
  }),
} as const;
