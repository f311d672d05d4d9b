// The settings of the identity service; every one also as NAME_FILE.
import { baseSettings, rpcSettings, traceSettings } from '@course-exchange/runtime/base-settings';
import { readSettings, ruleOn, type SettingValues } from '@course-exchange/runtime/env';
import { optionalPostgresSettings, postgresSettings } from '@course-exchange/runtime/postgres-settings';
import { type PrivatePort, privatePortMistakes } from '@course-exchange/runtime/private-port';
import { redisRules, redisSettings } from '@course-exchange/runtime/redis-settings';
import {
  choice,
  integer,
  maybe,
  optional,
  origin,
  port,
  secret,
  secretBytes,
  text,
} from '@course-exchange/runtime/variables';
import { signingAlgorithms } from './domain/signing-algorithm.ts';

const signingSettings = {
  KEY_ENCRYPTION_KEY: secretBytes('encrypts private signing keys in Postgres', 32),
  KEY_ENCRYPTION_KEY_PREVIOUS: maybe(
    secretBytes('opens keys that are not yet encrypted anew under KEY_ENCRYPTION_KEY', 32),
  ),
  ACCESS_TOKEN_ALGORITHM: optional(choice('signs access tokens', signingAlgorithms), 'ES256'),
};

export const settings = {
  ...signingSettings,
  ...baseSettings,
  ...traceSettings,
  ...rpcSettings,
  ISSUER: origin('public address of the service'),
  ENVIRONMENT: choice('which rules hold for the issuer and redirect URIs', ['production', 'test']),
  ...postgresSettings('POSTGRES', 'database, as role identity_rw'),
  POSTGRES_POOL_SIZE: optional(integer('connections to Postgres, beside one for short reads', 1, 200), 10),
  ...redisSettings,
  USER_HASH_KEY: secretBytes('keys the hash that stands for a user in logs', 32),
  ...optionalPostgresSettings(
    'OPERATOR_POSTGRES',
    'database, as role identity_operator; without it there is no operator port',
  ),
  OPERATOR_HOST: optional(
    text('address that answers operators; loopback unless certificates are set'),
    '127.0.0.1',
  ),
  OPERATOR_PORT: optional(port('port that answers operators'), 7201),
  OPERATOR_SOCKET: maybe(text('path of a Unix socket that answers operators instead')),
  OPERATOR_TLS_CERT: maybe(text('certificate of the operator port, PEM', 'a PEM text')),
  OPERATOR_TLS_KEY: maybe(secret(text('key of that certificate, PEM', 'a PEM text'))),
  OPERATOR_TLS_CA: maybe(text('authority of the certificates that operators show, PEM', 'a PEM text')),
  LOGIN_HASHING_CONCURRENCY: optional(integer('passwords hashed at the same time', 1, 64), 2),
};

export type IdentityConfig = SettingValues<typeof settings>;

type OperatorSettings = Pick<
  IdentityConfig,
  | 'OPERATOR_HOST'
  | 'OPERATOR_PORT'
  | 'OPERATOR_SOCKET'
  | 'OPERATOR_TLS_CERT'
  | 'OPERATOR_TLS_KEY'
  | 'OPERATOR_TLS_CA'
>;

/** Where operators reach the service. */
export function operatorAddress(config: OperatorSettings): PrivatePort {
  return {
    prefix: 'OPERATOR',
    host: config.OPERATOR_HOST,
    port: config.OPERATOR_PORT,
    socket: config.OPERATOR_SOCKET,
    certificate: config.OPERATOR_TLS_CERT,
    key: config.OPERATOR_TLS_KEY,
    authority: config.OPERATOR_TLS_CA,
  };
}

const rules = [
  ...redisRules,
  ruleOn(settings, ['ENVIRONMENT', 'ISSUER'], ({ ENVIRONMENT, ISSUER }) =>
    ENVIRONMENT === 'production' && !ISSUER.startsWith('https://')
      ? ['ISSUER is not valid: expected https:// where ENVIRONMENT is production']
      : [],
  ),
  // A failover would bring back what was not yet replicated: spent tokens (decision 0010).
  ruleOn(
    settings,
    ['ENVIRONMENT', 'REDIS_SENTINEL_MASTER', 'REDIS_CLUSTER', 'REDIS_MIN_REPLICAS'],
    (config) =>
      config.ENVIRONMENT === 'production' &&
      (config.REDIS_CLUSTER || config.REDIS_SENTINEL_MASTER !== undefined) &&
      config.REDIS_MIN_REPLICAS === 0
        ? [
            'REDIS_MIN_REPLICAS is not valid: expected 1 or more where ENVIRONMENT is production and REDIS_SENTINEL_MASTER or REDIS_CLUSTER is set',
          ]
        : [],
  ),
  ruleOn(
    settings,
    [
      'OPERATOR_POSTGRES_URL',
      'OPERATOR_HOST',
      'OPERATOR_PORT',
      'OPERATOR_SOCKET',
      'OPERATOR_TLS_CERT',
      'OPERATOR_TLS_KEY',
      'OPERATOR_TLS_CA',
    ],
    (config) =>
      config.OPERATOR_POSTGRES_URL === undefined ? [] : privatePortMistakes(operatorAddress(config)),
  ),
];

/** Reads and checks the whole configuration. Throws one ConfigurationError that lists every mistake. */
export function readConfig(source?: Readonly<Record<string, string | undefined>>): IdentityConfig {
  return readSettings(settings, source, rules);
}
