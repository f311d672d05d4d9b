// A migration as a job: the checks, then the migrations, then what belongs to them; with `--check` the checks alone.
import type pg from 'pg';
import { ConfigurationError } from './env.ts';
import { describeError, type LogFields, type Logger, logText } from './logger.ts';
import { MigrationFailed, MigrationLockTaken, migrate, newestMigration } from './migrations.ts';

export interface MigrationJob<C> {
  /** Of the command line. */
  readonly words: readonly string[];
  readonly schema: string;
  readonly directory: string;
  readonly logger: Logger;
  /** Throws a ConfigurationError. */
  readonly readConfig: () => C;
  /** How the migrator connects. */
  readonly migrator: () => pg.ClientConfig;
  /** True when nothing may hinder; what does is logged by then. */
  readonly check: (config: C, schemaVersion: number) => Promise<boolean>;
  /** After the migrations; the fields go into the last line. */
  readonly after?: (config: C) => Promise<LogFields>;
}

/** The exit code: 0, or 1 with a line for each reason. */
export async function runMigrationJob<C>(job: MigrationJob<C>): Promise<number> {
  const { words, schema, directory, logger } = job;
  const checkOnly = words.length === 1 && words[0] === '--check';
  if (words.length > 0 && !checkOnly) {
    process.stderr.write('The only argument is --check: it looks, and changes nothing.\n');
    return 1;
  }
  try {
    const config = job.readConfig();
    if (!(await job.check(config, newestMigration(directory)))) {
      logger.error('nothing was changed: the checks above failed');
      return 1;
    }
    if (checkOnly) return 0;
    const applied = await migrate(job.migrator(), schema, directory);
    logger.info('migrated', { migrations: applied.length, ...(await job.after?.(config)) });
    return 0;
  } catch (error) {
    tell(error, schema, logger);
    return 1;
  }
}

function tell(error: unknown, schema: string, logger: Logger): void {
  if (error instanceof ConfigurationError) process.stderr.write(`${error.message}\n`);
  else if (error instanceof MigrationLockTaken)
    logger.error(
      'another job is migrating this schema for 10 s: wait until it ends, then run this one again',
    );
  else if (error instanceof MigrationFailed && error.waited)
    logger.error(
      'a table was locked for 10 s: end the long transaction that holds it, then run this job again',
      { migration: logText(`${schema} ${error.version}`) },
    );
  else if (error instanceof MigrationFailed)
    logger.error('migration failed', {
      migration: logText(`${schema} ${error.version}`),
      ...describeError(error.cause),
    });
  else logger.error('migration failed', describeError(error));
}
