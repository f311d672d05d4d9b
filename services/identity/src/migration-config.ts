// The settings of identity's migration job; every one also as NAME_FILE. What only the checks need may be absent: that
// check is left out then.
import { type Rule, readSettings, type SettingValues } from '@course-exchange/runtime/env';
import {
  optionalPostgresSettings,
  postgresAccess,
  postgresSettings,
} from '@course-exchange/runtime/postgres-settings';
import {
  type RedisConfig,
  redisPlace,
  redisRules,
  redisSettings,
} from '@course-exchange/runtime/redis-settings';
import { maybe, text } from '@course-exchange/runtime/variables';
import { settings } from './config.ts';
import type { PreflightSubjects } from './preflight/preflight.ts';

export const migrationSettings = {
  KEY_ENCRYPTION_KEY: settings.KEY_ENCRYPTION_KEY,
  KEY_ENCRYPTION_KEY_PREVIOUS: settings.KEY_ENCRYPTION_KEY_PREVIOUS,
  ACCESS_TOKEN_ALGORITHM: settings.ACCESS_TOKEN_ALGORITHM,
  ...postgresSettings('MIGRATOR_POSTGRES', 'database, as role identity_migrator'),
  ...optionalPostgresSettings('POSTGRES', settings.POSTGRES_URL.about),
  ...optionalPostgresSettings('OPERATOR_POSTGRES', settings.OPERATOR_POSTGRES_URL.about),
  ISSUER: maybe(settings.ISSUER),
  ENVIRONMENT: maybe(settings.ENVIRONMENT),
  PUBLIC_HOST: maybe(
    text('host that the ingress answers for; that of ISSUER must be the same', 'a host name'),
  ),
  ...redisSettings,
  REDIS_URL: maybe(redisSettings.REDIS_URL),
};

export type MigrationConfig = SettingValues<typeof migrationSettings>;

/** Throws one ConfigurationError that lists every mistake. */
export function readMigrationConfig(source?: Readonly<Record<string, string | undefined>>): MigrationConfig {
  return readSettings(migrationSettings, source, redisRules.map(whereRedisIs));
}

function whereRedisIs({ of, mistakes }: Rule): Rule {
  const rule = (values: Readonly<Record<string, unknown>>) =>
    values.REDIS_URL === undefined ? [] : mistakes(values);
  return { of: [...new Set([...of, 'REDIS_URL'])], mistakes: rule };
}

/** `schemaVersion`: the newest migration of this image. */
export function preflightSubjects(config: MigrationConfig, schemaVersion: number): PreflightSubjects {
  const logins = [
    { account: 'MIGRATOR_POSTGRES', role: 'identity_migrator', migrates: true },
    { account: 'POSTGRES', role: 'identity_rw' },
    { account: 'OPERATOR_POSTGRES', role: 'identity_operator' },
  ] as const;
  const { KEY_ENCRYPTION_KEY: key, KEY_ENCRYPTION_KEY_PREVIOUS: previous, REDIS_URL } = config;
  return {
    issuer: config,
    production: config.ENVIRONMENT === 'production',
    logins: logins.flatMap(({ account, ...login }) =>
      config[`${account}_URL`] === undefined
        ? []
        : [{ ...login, schema: 'identity', access: postgresAccess(account) }],
    ),
    absent: logins.flatMap(({ account }) =>
      config[`${account}_URL`] === undefined ? [`${account}_URL`] : [],
    ),
    encryptionKeys: previous === undefined ? [key] : [key, previous],
    redis:
      REDIS_URL === undefined
        ? undefined
        : {
            place: redisPlace({ ...config, REDIS_URL } as RedisConfig),
            minReplicas: config.REDIS_MIN_REPLICAS,
            production: config.ENVIRONMENT === 'production',
          },
    schemaVersion,
  };
}
