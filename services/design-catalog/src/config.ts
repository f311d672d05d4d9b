// The settings of design-catalog; each can be given as NAME_FILE.
import { privatePorts } from '@course-exchange/rules/private-ports';
import { peerNames } from '@course-exchange/runtime/grpc/peer';
import { privatePortRule, privatePortSettings } from '@course-exchange/runtime/grpc/private-port';
import { namelessTarget } from '@course-exchange/runtime/grpc/tls';
import { optionalPostgresSettings, postgresSettings } from '@course-exchange/runtime/postgres/settings';
import { baseSettings, rpcSettings, telemetrySettings } from '@course-exchange/runtime/process/base-settings';
import { choice, integer, origin, secretBytes, text } from '@course-exchange/runtime/process/setting-kinds';
import {
  readSettings,
  ruleOn,
  type SettingSource,
  type SettingValues,
} from '@course-exchange/runtime/process/settings';
import { tokenAlgorithms } from './tokens/key-set.ts';

const feedPortSettings = privatePortSettings('FEED', 'the feed', privatePorts.FEED);

export const settings = {
  ...rpcSettings,
  GATEWAY_TLS_NAMES: peerNames('gateway'),
  ISSUER: origin().describe('Whose access tokens are accepted; the same in all services (R28.1)'),
  ACCESS_TOKEN_ALGORITHM: choice(tokenAlgorithms).default('ES256').describe('Signs access tokens'),
  IDENTITY_TARGET: text('a gRPC target such as dns:///identity:7001').describe('gRPC target of identity'),
  ...postgresSettings('POSTGRES', 'Database, as role catalog_ro'),
  POSTGRES_POOL_SIZE: integer(1, 200).default(10).describe('Connections to Postgres'),
  ...optionalPostgresSettings('FEED_POSTGRES', 'Database, as role catalog_feed; without it the feed is off'),
  ...feedPortSettings,
  USER_HASH_KEY: secretBytes(32).describe('Keys the hash that stands for a user in logs'),
  ...baseSettings,
  ...telemetrySettings,
};

export type CatalogConfig = SettingValues<typeof settings>;

const targetRule = ruleOn(settings, ['IDENTITY_TARGET', 'RPC_TLS_DIRECTORY'], (config) =>
  namelessTarget('IDENTITY_TARGET', config.IDENTITY_TARGET, config.RPC_TLS_DIRECTORY),
);

export function readConfig(source?: SettingSource): CatalogConfig {
  return readSettings(settings, source, [privatePortRule('FEED'), targetRule]);
}
