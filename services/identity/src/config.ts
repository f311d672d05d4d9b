// The settings of identity; each can be given as NAME_FILE.
import { privatePorts } from '@course-exchange/rules/private-ports';
import { peerNames } from '@course-exchange/runtime/grpc/peer';
import { privatePortRule, privatePortSettings } from '@course-exchange/runtime/grpc/private-port';
import { optionalPostgresSettings, postgresSettings } from '@course-exchange/runtime/postgres/settings';
import { baseSettings, rpcSettings, telemetrySettings } from '@course-exchange/runtime/process/base-settings';
import { choice, flag, integer, origin, secretBytes } from '@course-exchange/runtime/process/setting-kinds';
import {
  readSettings,
  ruleOn,
  type SettingSource,
  type SettingValues,
} from '@course-exchange/runtime/process/settings';
import { signingAlgorithms } from './keys/signing-key.ts';
import { redisRules, redisSettings } from './redis/settings.ts';

export const settings = {
  KEY_ENCRYPTION_KEY: secretBytes(32).describe(
    'Encrypts private signing keys in Postgres, and the interaction in a login page',
  ),
  KEY_ENCRYPTION_KEY_PREVIOUS: secretBytes(32)
    .optional()
    .describe('Decrypts what KEY_ENCRYPTION_KEY does not: the next or the old key during its rotation'),
  ACCESS_TOKEN_ALGORITHM: choice(signingAlgorithms)
    .default('ES256')
    .describe('Signs access tokens; those of another algorithm are refused at once'),
  ...baseSettings,
  ...telemetrySettings,
  ...rpcSettings,
  GATEWAY_TLS_NAMES: peerNames('gateway'),
  CATALOG_TLS_NAMES: peerNames('design-catalog'),
  ISSUER: origin().describe('Public address of the service'),
  ENVIRONMENT: choice(['production', 'test']).describe('Which rules hold for the issuer and redirect URIs'),
  ...postgresSettings('POSTGRES', 'Database, as role identity_rw'),
  POSTGRES_POOL_SIZE: integer(1, 200)
    .default(10)
    .describe('Connections to Postgres, beside one for short reads'),
  ...redisSettings,
  USER_HASH_KEY: secretBytes(32).describe('Keys the hash that stands for a user in logs'),
  ...optionalPostgresSettings(
    'OPERATOR_POSTGRES',
    'Database, as role identity_operator; without it there is no operator port',
  ),
  ...privatePortSettings('OPERATOR', 'operators', privatePorts.OPERATOR),
  APPROVAL_BY_ANOTHER_OPERATOR: flag()
    .default(false)
    .describe('Refuses the approval of a client by the operator of its last edit'),
  LOGIN_HASHING_CONCURRENCY: integer(1, 64).default(2).describe('Passwords hashed at the same time'),
  MAX_REFRESH_FAMILIES: integer(20, 10_000)
    .default(1_000)
    .describe(
      'Refresh families of a user and a client; a code exchange that makes one more ends an old one (R11.5)',
    ),
};

export type IdentityConfig = SettingValues<typeof settings>;

export const issuerRule = ruleOn(settings, ['ENVIRONMENT', 'ISSUER'], ({ ENVIRONMENT, ISSUER }) =>
  ENVIRONMENT === 'production' && !ISSUER.startsWith('https://')
    ? ['ISSUER is not valid: expected https:// where ENVIRONMENT is production']
    : [],
);

/** A failover would restore consumed tokens that were not replicated (decision 0010). */
export const replicaRule = ruleOn(
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
);

const rules = [...redisRules, issuerRule, replicaRule, privatePortRule('OPERATOR')];

export function readConfig(source?: SettingSource): IdentityConfig {
  return readSettings(settings, source, rules);
}
