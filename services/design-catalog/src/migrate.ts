// The catalog's migration job. --check and --report only check; with --report the exit code is 0.
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
