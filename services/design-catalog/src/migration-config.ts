// The settings of the catalog's migration job; every one also as NAME_FILE. What only the checks need may be absent:
// that check is left out then.
import { readSettings, type SettingValues } from '@course-exchange/runtime/env';
import { maybe, secret, url } from '@course-exchange/runtime/variables';
import { settings } from './config.ts';
import type { PreflightSubjects } from './preflight/preflight.ts';

export const migrationSettings = {
  MIGRATOR_POSTGRES_URL: secret(url('database, as role catalog_migrator', ['postgres:', 'postgresql:'])),
  POSTGRES_URL: maybe(settings.POSTGRES_URL),
  FEED_POSTGRES_URL: settings.FEED_POSTGRES_URL,
};

export type MigrationConfig = SettingValues<typeof migrationSettings>;

/** Throws one ConfigurationError that lists every mistake. */
export function readMigrationConfig(source?: Readonly<Record<string, string | undefined>>): MigrationConfig {
  return readSettings(migrationSettings, source);
}

/** `schemaVersion`: the newest migration of this image. */
export function preflightSubjects(config: MigrationConfig, schemaVersion: number): PreflightSubjects {
  const logins = [
    { setting: 'MIGRATOR_POSTGRES_URL', role: 'catalog_migrator' },
    { setting: 'POSTGRES_URL', role: 'catalog_ro', readOnly: true },
    { setting: 'FEED_POSTGRES_URL', role: 'catalog_feed' },
  ] as const;
  return {
    logins: logins.flatMap((login) => {
      const address = config[login.setting];
      if (address === undefined) return [];
      return [{ ...login, schema: 'catalog', config: { connectionString: address.reveal() } }];
    }),
    absent: logins.flatMap(({ setting }) => (config[setting] === undefined ? [setting] : [])),
    schemaVersion,
  };
}
