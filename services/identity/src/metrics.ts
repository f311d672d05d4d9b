// Identity's metrics, besides those of every process. `observations.ts` reads the gauges.
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
      'Token requests refused, by the code that the partner is told and the reason that it is not; `client_id` of a client that has authenticated',
  }),
  authorizationsRefused: counter({
    name: 'course_exchange.authorizations.refused',
    unit: '{response}',
    labels: ['error.type', 'reason', 'client_id'],
    about:
      'Authorization requests answered with an error, directly or by redirect, by code and reason; `client_id` of the registered client that is named: nobody has proven it yet',
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
      'Refusals without a record for support: `quota` of the client, or of those who name none, for this minute; `queue` full; `postgres` did not take it',
  }),
  clientActs: counter({
    name: 'course_exchange.client.acts',
    unit: '{act}',
    labels: ['act', 'client_id'],
    about:
      'What clients that have authenticated did to keep or break their duties, as `partnerctl client conduct` judges it; `authorization_request` counts those that name the client',
  }),
  consentsShown: counter({
    name: 'course_exchange.consents.shown',
    unit: '{page}',
    labels: ['client_id'],
    about:
      'Consent pages shown, each time; what was decided is among the security events (`consent.given`, `consent.denied`)',
  }),
  passwordHashing: upDownCounter({
    name: 'course_exchange.password_hashing.logins',
    unit: '{login}',
    labels: ['state'],
    about: 'Logins whose password is being hashed (`running`), and those that wait for it (`waiting`)',
  }),
  signingKeyAge: gauge({
    name: 'course_exchange.signing_key.age',
    unit: 's',
    labels: ['kid', 'algorithm', 'state'],
    about:
      'Time since each published key came into its state, as this process knows it: `active` signs, `staged` is next',
  }),
  secretExpiry: gauge({
    name: 'course_exchange.client_secret.expires_in',
    unit: 's',
    labels: ['client_id', 'secret_id'],
    about:
      'Time until a valid client secret expires, infinite for one that does not; below 0 for the last one of an active client that has no other',
  }),
  redisMemory: gauge({
    name: 'course_exchange.redis.memory',
    unit: '1',
    labels: [],
    about: 'Share of `maxmemory` in use, of the fullest master; none without a `maxmemory`',
  }),
  redisSettings: gauge({
    name: 'course_exchange.redis.wrong_settings',
    unit: '{setting}',
    labels: [],
    about: 'Settings with which Redis may lose tokens or bring them back; `/healthz` names them',
  }),
  redisReplicas: gauge({
    name: 'course_exchange.redis.replicas',
    unit: '{replica}',
    labels: [],
    about:
      'Replicas that acknowledged writes within the last seconds, of the master that has fewest; `REDIS_MIN_REPLICAS` must have them',
  }),
  redisReplicasRequired: gauge({
    name: 'course_exchange.redis.replicas_required',
    unit: '{replica}',
    labels: [],
    about: '`REDIS_MIN_REPLICAS`: without so many, codes and refresh tokens are answered 503',
  }),
} as const;
