// The settings of the identity service; every one also as NAME_FILE.
import {
  ConfigurationError,
  choice,
  flag,
  integer,
  maybe,
  optional,
  port,
  readSettings,
  type SettingValues,
  secret,
  secretBytes,
  text,
  url,
  type Variable,
} from '@course-exchange/runtime/env';
import { signingAlgorithms } from './domain/signing-algorithm.ts';

const signingSettings = {
  KEY_ENCRYPTION_KEY: secretBytes('encrypts private signing keys in Postgres', 32),
  KEY_ENCRYPTION_KEY_PREVIOUS: maybe(
    secretBytes('opens keys that are not yet encrypted anew under KEY_ENCRYPTION_KEY', 32),
  ),
  ACCESS_TOKEN_ALGORITHM: optional(choice('signs access tokens', signingAlgorithms), 'ES256'),
};

/** What migrate.ts reads. */
export const migrationSettings = {
  ...signingSettings,
  MIGRATOR_POSTGRES_URL: secret(url('database, as role identity_migrator', ['postgres:', 'postgresql:'])),
};

export const settings = {
  ...signingSettings,
  LOG_LEVEL: optional(choice('least level that is logged', ['debug', 'info', 'warn', 'error']), 'info'),
  OTEL_EXPORTER_OTLP_ENDPOINT: maybe(url('OTLP/HTTP base address for traces', ['http:', 'https:'])),
  OTEL_TRACES_SAMPLER_ARG: optional(ratio('share of new traces that are kept'), 1),
  STOP_WITH_PARENT: optional(flag('stop when standard input closes'), false),
  SHUTDOWN_DELAY_MS: optional(integer('wait before connections close, in milliseconds', 0, 60_000), 0),
  HEALTH_HOST: optional(text('address that answers probes'), '0.0.0.0'),
  HEALTH_PORT: port('port that answers probes'),
  RPC_HOST: optional(text('address that answers gRPC'), '0.0.0.0'),
  RPC_PORT: port('port that answers gRPC'),
  MAX_CONNECTION_AGE_MS: optional(
    integer('after it a gRPC client connects anew, in milliseconds', 1_000, 3_600_000),
    90_000,
  ),
  ISSUER: origin('public address of the service'),
  ENVIRONMENT: choice('which rules hold for the issuer and redirect URIs', ['production', 'test']),
  POSTGRES_URL: secret(url('database, as role identity_rw', ['postgres:', 'postgresql:'])),
  POSTGRES_POOL_SIZE: optional(integer('connections to Postgres, beside one for short reads', 1, 200), 10),
  REDIS_URL: secret(url('Redis', ['redis:', 'rediss:'])),
  REDIS_MIN_REPLICAS: optional(integer('replicas that must have a token before it leaves', 0, 5), 0),
  USER_HASH_KEY: secretBytes('keys the hash that stands for a user in logs', 32),
  OPERATOR_POSTGRES_URL: maybe(
    secret(
      url('database, as role identity_operator; without it there is no operator port', [
        'postgres:',
        'postgresql:',
      ]),
    ),
  ),
  OPERATOR_HOST: optional(
    text('address that answers operators; loopback unless certificates are set'),
    '127.0.0.1',
  ),
  OPERATOR_PORT: optional(port('port that answers operators'), 7201),
  OPERATOR_SOCKET: maybe(text('path of a Unix socket that answers operators instead')),
  OPERATOR_TLS_CERT: maybe(text('certificate of the operator port, PEM')),
  OPERATOR_TLS_KEY: maybe(secret(text('its private key, PEM'))),
  OPERATOR_TLS_CA: maybe(text('authority of the certificates that operators show, PEM')),
  LOGIN_HASHING_CONCURRENCY: optional(integer('passwords hashed at the same time', 1, 64), 2),
};

export type IdentityConfig = SettingValues<typeof settings>;

/** Reads and checks the whole configuration. Throws one ConfigurationError that lists every mistake. */
export function readConfig(source?: Readonly<Record<string, string | undefined>>): IdentityConfig {
  const config = readSettings(settings, source);
  if (config.ENVIRONMENT === 'production' && !config.ISSUER.startsWith('https://'))
    throw new ConfigurationError(['ISSUER is not valid: expected https:// where ENVIRONMENT is production']);
  return config;
}

/** Scheme, host and optional port, as it stands in every token (R28). */
function origin(about: string): Variable<string> {
  return {
    about,
    expects: 'scheme, host and optional port, with neither path nor trailing slash',
    parse: (raw) => {
      const valid = /^https?:\/\//.test(raw) && URL.canParse(raw) && new URL(raw).origin === raw;
      return valid ? raw : undefined;
    },
  };
}

function ratio(about: string): Variable<number> {
  return {
    about,
    expects: 'a number from 0 to 1',
    parse: (raw) => (/^(0(\.\d+)?|1(\.0+)?)$/.test(raw) ? Number(raw) : undefined),
  };
}
