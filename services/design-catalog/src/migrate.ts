// The migration job: checks whether the catalog can run and brings its schema up to date; with --check it only checks.
// Exit code 0, or 1 with a line for each reason; with --report, which checks too, 0 in any case.
import { join } from 'node:path';
import { runMigrationJob } from '@course-exchange/runtime/postgres/migrate';
import { postgresAccess } from '@course-exchange/runtime/postgres/settings';
import { createLogger } from '@course-exchange/runtime/process/logger';
import { preflight, readMigrationConfig } from './preflight.ts';

const logger = createLogger('catalog-migrate', 'info');
process.exitCode = await runMigrationJob({
  words: process.argv.slice(2),
  schema: 'catalog',
  directory: join(import.meta.dirname, '../migrations'),
  logger,
  readConfig: () => readMigrationConfig(),
  migrator: postgresAccess('MIGRATOR_POSTGRES').read,
  check: (config, schemaVersion) => preflight(config, schemaVersion, logger),
});
