// The settings of the catalog's migration job; every one also as NAME_FILE. What only the checks need may be absent:
// that check is left out then.
import { readSettings, type SettingValues } from '@course-exchange/runtime/env';
import {
  optionalPostgresSettings,
  postgresAccess,
  postgresSettings,
} from '@course-exchange/runtime/postgres-settings';
import { choice, maybe } from '@course-exchange/runtime/variables';
import { settings } from './config.ts';
import type { PreflightSubjects } from './preflight/preflight.ts';

export const migrationSettings = {
  ...postgresSettings('MIGRATOR_POSTGRES', 'database, as role catalog_migrator'),
  ...optionalPostgresSettings('POSTGRES', settings.POSTGRES_URL.about),
  ...optionalPostgresSettings('FEED_POSTGRES', settings.FEED_POSTGRES_URL.about),
  ENVIRONMENT: maybe(
    choice('in production, connections to Postgres must be encrypted', ['production', 'test']),
  ),
};

export type MigrationConfig = SettingValues<typeof migrationSettings>;

/** Throws one ConfigurationError that lists every mistake. */
export function readMigrationConfig(source?: Readonly<Record<string, string | undefined>>): MigrationConfig {
  return readSettings(migrationSettings, source);
}

/** `schemaVersion`: the newest migration of this image. */
export function preflightSubjects(config: MigrationConfig, schemaVersion: number): PreflightSubjects {
  const logins = [
    { account: 'MIGRATOR_POSTGRES', role: 'catalog_migrator', migrates: true },
    { account: 'POSTGRES', role: 'catalog_ro', readOnly: true },
    { account: 'FEED_POSTGRES', role: 'catalog_feed' },
  ] as const;
  return {
    production: config.ENVIRONMENT === 'production',
    logins: logins.flatMap(({ account, ...login }) =>
      config[`${account}_URL`] === undefined
        ? []
        : [{ ...login, schema: 'catalog', access: postgresAccess(account) }],
    ),
    absent: logins.flatMap(({ account }) =>
      config[`${account}_URL`] === undefined ? [`${account}_URL`] : [],
    ),
    schemaVersion,
  };
}
