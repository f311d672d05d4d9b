// The settings of design-catalog; every one also as NAME_FILE.
import { baseSettings, rpcSettings, traceSettings } from '@course-exchange/runtime/base-settings';
import { readSettings, ruleOn, type SettingValues } from '@course-exchange/runtime/env';
import { optionalPostgresSettings, postgresSettings } from '@course-exchange/runtime/postgres-settings';
import { type PrivatePort, privatePortMistakes } from '@course-exchange/runtime/private-port';
import { namelessTarget } from '@course-exchange/runtime/rpc-tls';
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
import { tokenAlgorithms } from './domain/access-token.ts';

export const settings = {
  ...rpcSettings,
  ISSUER: origin('whose access tokens are accepted; the same in all services (R28)'),
  ACCESS_TOKEN_ALGORITHM: optional(choice('signs access tokens', tokenAlgorithms), 'ES256'),
  IDENTITY_TARGET: text('gRPC target of identity', 'a gRPC target such as dns:///identity:7001'),
  ...postgresSettings('POSTGRES', 'database, as role catalog_ro'),
  POSTGRES_POOL_SIZE: optional(integer('connections to Postgres', 1, 200), 10),
  ...optionalPostgresSettings('FEED_POSTGRES', 'database, as role catalog_feed; without it the feed is off'),
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
  ...baseSettings,
  ...traceSettings,
};

export type CatalogConfig = SettingValues<typeof settings>;

type FeedSettings = Pick<
  CatalogConfig,
  'FEED_HOST' | 'FEED_PORT' | 'FEED_SOCKET' | 'FEED_TLS_CERT' | 'FEED_TLS_KEY' | 'FEED_TLS_CA'
>;

/** Where the feed is to be reached. */
export function feedPort(config: FeedSettings): PrivatePort {
  return {
    prefix: 'FEED',
    host: config.FEED_HOST,
    port: config.FEED_PORT,
    socket: config.FEED_SOCKET,
    certificate: config.FEED_TLS_CERT,
    key: config.FEED_TLS_KEY,
    authority: config.FEED_TLS_CA,
  };
}

const feedRule = ruleOn(
  settings,
  [
    'FEED_POSTGRES_URL',
    'FEED_HOST',
    'FEED_PORT',
    'FEED_SOCKET',
    'FEED_TLS_CERT',
    'FEED_TLS_KEY',
    'FEED_TLS_CA',
  ],
  (config) => (config.FEED_POSTGRES_URL === undefined ? [] : privatePortMistakes(feedPort(config))),
);

const targetRule = ruleOn(settings, ['IDENTITY_TARGET', 'RPC_TLS_DIRECTORY'], (config) =>
  namelessTarget('IDENTITY_TARGET', config.IDENTITY_TARGET, config.RPC_TLS_DIRECTORY),
);

/** Reads and checks the whole configuration. Throws one ConfigurationError that lists every mistake. */
export function readConfig(source?: Readonly<Record<string, string | undefined>>): CatalogConfig {
  return readSettings(settings, source, [feedRule, targetRule]);
}
