// A job of its own: looks whether the catalog can run, and brings its schema up to date; with --check it only looks.
// Exit code 0, or 1 with a line for each reason.
import { join } from 'node:path';
import { createLogger } from '@course-exchange/runtime/logger';
import { runMigrationJob } from '@course-exchange/runtime/migration-job';
import { postgresAccess } from '@course-exchange/runtime/postgres-settings';
import { preflightSubjects, readMigrationConfig } from './migration-config.ts';
import { preflight } from './preflight/preflight.ts';

const logger = createLogger('catalog-migrate', 'info');
process.exitCode = await runMigrationJob({
  words: process.argv.slice(2),
  schema: 'catalog',
  directory: join(import.meta.dirname, '../migrations'),
  logger,
  readConfig: () => readMigrationConfig(),
  migrator: postgresAccess('MIGRATOR_POSTGRES').read,
  check: (config, schemaVersion) => preflight(preflightSubjects(config, schemaVersion), logger),
});
