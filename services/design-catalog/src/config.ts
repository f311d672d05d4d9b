// The settings of design-catalog; every one also as NAME_FILE.
import {
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
import { tokenAlgorithms } from './domain/access-token.ts';

/** What migrate.ts reads. */
export const migrationSettings = {
  MIGRATOR_POSTGRES_URL: secret(url('database, as role catalog_migrator', ['postgres:', 'postgresql:'])),
};

export const settings = {
  RPC_HOST: optional(text('address that answers gRPC'), '0.0.0.0'),
  RPC_PORT: port('port that answers gRPC'),
  ISSUER: origin('whose access tokens are accepted; the same in all services (R28)'),
  ACCESS_TOKEN_ALGORITHM: optional(choice('signs access tokens', tokenAlgorithms), 'ES256'),
  IDENTITY_TARGET: text('gRPC target of identity', 'a gRPC target such as dns:///identity:7001'),
  POSTGRES_URL: secret(url('database, as role catalog_ro', ['postgres:', 'postgresql:'])),
  POSTGRES_POOL_SIZE: optional(integer('connections to Postgres', 1, 200), 10),
  FEED_POSTGRES_URL: maybe(
    secret(url('database, as role catalog_feed; without it the feed is off', ['postgres:', 'postgresql:'])),
  ),
  FEED_HOST: optional(
    text('address that answers the feed; loopback unless FEED_TLS_CERT is set'),
    '127.0.0.1',
  ),
  FEED_PORT: optional(port('port that answers the feed'), 7301),
  FEED_SOCKET: maybe(text('path of a Unix socket that answers the feed in the place of host and port')),
  FEED_TLS_CERT: maybe(text('own certificate of the feed, PEM', 'a PEM text')),
  FEED_TLS_KEY: maybe(secret(text('key of that certificate, PEM', 'a PEM text'))),
  FEED_TLS_CA: maybe(text('authority whose certificates may feed, PEM', 'a PEM text')),
  USER_HASH_KEY: secretBytes('keys the hash that stands for a user in logs', 32),
  MAX_CONNECTION_AGE_MS: optional(
    integer('after it a gRPC client connects anew, in milliseconds', 1_000, 3_600_000),
    90_000,
  ),
  HEALTH_HOST: optional(text('address that answers probes'), '0.0.0.0'),
  HEALTH_PORT: port('port that answers probes'),
  LOG_LEVEL: optional(choice('least level that is logged', ['debug', 'info', 'warn', 'error']), 'info'),
  OTEL_EXPORTER_OTLP_ENDPOINT: maybe(url('OTLP/HTTP base address for traces', ['http:', 'https:'])),
  OTEL_TRACES_SAMPLER_ARG: optional(ratio('share of new traces that are kept'), 1),
  STOP_WITH_PARENT: optional(flag('stop when standard input closes'), false),
  SHUTDOWN_DELAY_MS: optional(integer('wait before connections close, in milliseconds', 0, 60_000), 0),
};

export type CatalogConfig = SettingValues<typeof settings>;

/** Reads and checks the whole configuration. Throws one ConfigurationError that lists every mistake. */
export function readConfig(source?: Readonly<Record<string, string | undefined>>): CatalogConfig {
  return readSettings(settings, source);
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
