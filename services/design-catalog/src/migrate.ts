// A job of its own: brings the catalog schema up to date. Exit code 0, or 1 with one line that says why.
import { join } from 'node:path';
import { ConfigurationError, readSettings } from '@course-exchange/runtime/env';
import { createLogger, describeError, type Logger } from '@course-exchange/runtime/logger';
import { migrate } from '@course-exchange/runtime/migrations';
import { migrationSettings } from './config.ts';

process.exitCode = await run(createLogger('catalog-migrate', 'info'));

async function run(logger: Logger): Promise<number> {
  try {
    const postgresUrl = readSettings(migrationSettings).MIGRATOR_POSTGRES_URL.reveal();
    const applied = await migrate(postgresUrl, 'catalog', join(import.meta.dirname, '../migrations'));
    logger.info('migrated', { migrations: applied.length });
    return 0;
  } catch (error) {
    if (error instanceof ConfigurationError) process.stderr.write(`${error.message}\n`);
    else logger.error('migration failed', describeError(error));
    return 1;
  }
}
