// The settings and checks of the catalog's migration job.
import { checkPostgres } from '@course-exchange/runtime/postgres/check';
import { optionalPostgresSettings, postgresSettings } from '@course-exchange/runtime/postgres/settings';
import { withChecks } from '@course-exchange/runtime/process/checks';
import type { Logger } from '@course-exchange/runtime/process/logger';
import { choice } from '@course-exchange/runtime/process/setting-kinds';
import {
  readSettings,
  type SettingSource,
  type SettingValues,
} from '@course-exchange/runtime/process/settings';
import { settings } from './config.ts';

export const migrationSettings = {
  ...postgresSettings('MIGRATOR_POSTGRES', 'Database, as role catalog_migrator'),
  ...optionalPostgresSettings('POSTGRES', settings.POSTGRES_URL.description ?? ''),
  ...optionalPostgresSettings('FEED_POSTGRES', settings.FEED_POSTGRES_URL.description ?? ''),
  ENVIRONMENT: choice(['production', 'test'])
    .optional()
    .describe('In production, connections to Postgres must be encrypted'),
};

export type MigrationConfig = SettingValues<typeof migrationSettings>;

export function readMigrationConfig(source?: SettingSource): MigrationConfig {
  return readSettings(migrationSettings, source);
}

const installation = {
  owner: 'course_exchange_owner',
  schema: 'catalog',
  accounts: [
    { prefix: 'MIGRATOR_POSTGRES', role: 'catalog_migrator', migrates: true },
    { prefix: 'POSTGRES', role: 'catalog_ro', readOnly: true },
    { prefix: 'FEED_POSTGRES', role: 'catalog_feed' },
  ],
};

/** True when nothing failed. `schemaVersion`: the newest migration of this image. */
export function preflight(config: MigrationConfig, schemaVersion: number, logger: Logger): Promise<boolean> {
  return withChecks(logger, (run) => checkPostgres({ installation, config, schemaVersion }, run));
}
