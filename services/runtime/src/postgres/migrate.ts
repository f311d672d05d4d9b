// The migration job: checks the installation, then runs numbered, plain SQL migrations under an advisory lock, each in a
// transaction of its own.
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import pg from 'pg';
import { describeError, type LogFields, type Logger, logText } from '../process/logger.ts';
import { ConfigurationError } from '../process/settings.ts';
import { endConnection } from './connection.ts';
import { migrationFiles, newestMigration } from './schema-version.ts';

/** Says why there was no migration. Nothing of it is left; those before it stay. */
class MigrationFailed extends Error {
  readonly version: number | undefined;

  constructor(reason: string, version?: number, cause?: unknown) {
    super(reason, { cause });
    this.version = version;
  }
}

const lockTimeoutMs = 10_000;
const connectMs = 5_000;

/**
 * Brings `schema` of the database at `connection` up to the newest migration in `directory`, or to `through`; returns
 * the versions it applied. A newer schema stays as it is. Of two at once one waits for the other, for 10 s or the
 * connection's `lock_timeout`. Throws MigrationFailed.
 */
export async function migrate(
  connection: string | pg.ClientConfig,
  schema: string,
  directory: string,
  through = Number.POSITIVE_INFINITY,
): Promise<number[]> {
  const given = typeof connection === 'string' ? { connectionString: connection } : connection;
  const { lock_timeout = lockTimeoutMs } = given;
  const client = new pg.Client({
    ...given,
    lock_timeout,
    application_name: `migrate ${schema}`,
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  });
  // An unheard error ends the process.
  client.on('error', () => {});
  try {
    await client.connect();
    const lock = {
      text: 'select pg_advisory_lock(hashtext($1))',
      values: [`migrate ${schema}`],
      // A server that is silent is found here. Later queries may take as long as they need.
      query_timeout: lock_timeout + connectMs,
    };
    await client.query(lock).catch((error) => {
      if (!isLockTimeout(error)) throw error;
      throw new MigrationFailed('another job is migrating this schema: wait until it ends');
    });
    await client.query(`create schema if not exists ${schema}`);
    await client.query(
      `create table if not exists ${schema}.schema_migrations (
         version integer primary key,
         applied_at timestamptz not null default now(),
         sha256 text)`,
    );
    // An early draft had no column for the hash.
    const { rows } = await client.query<{ version: number; sha256: string | null }>(
      `select version, to_jsonb(m) ->> 'sha256' as sha256 from ${schema}.schema_migrations m`,
    );
    const applied = new Map(rows.map((row) => [row.version, row.sha256]));
    const files = migrationFiles(directory).map(({ version, path }) => ({
      version,
      sql: readFileSync(path, 'utf8'),
    }));
    const changed = files.find(
      ({ version, sql }) => applied.has(version) && applied.get(version) !== hash('sha256', sql),
    );
    if (changed)
      throw new MigrationFailed(
        'this database was made by an earlier draft of this migration: begin with an empty one',
        changed.version,
      );
    const pending = files.filter(({ version }) => version <= through && !applied.has(version));
    for (const { version, sql } of pending) await apply(client, schema, version, sql);
    return pending.map(({ version }) => version);
  } finally {
    await endConnection(client);
  }
}

function isLockTimeout(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '55P03';
}

async function apply(client: pg.Client, schema: string, version: number, sql: string): Promise<void> {
  await client.query('begin');
  try {
    await client.query(`set local search_path = ${schema}`);
    await client.query(sql);
    await client.query(`insert into ${schema}.schema_migrations (version, sha256) values ($1, $2)`, [
      version,
      hash('sha256', sql),
    ]);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => {});
    const reason = isLockTimeout(error)
      ? 'a table was locked: end the transaction that holds it, then run this job again'
      : 'Postgres refused a statement';
    throw new MigrationFailed(reason, version, error);
  }
}

export interface MigrationJob<C> {
  /** Arguments of the command line. */
  readonly words: readonly string[];
  readonly schema: string;
  readonly directory: string;
  readonly logger: Logger;
  /** Throws a ConfigurationError. */
  readonly readConfig: () => C;
  readonly migrator: () => pg.ClientConfig;
  /** True when nothing failed; every finding is logged. */
  readonly check: (config: C, schemaVersion: number) => Promise<boolean>;
  /** Its fields go into the last log line. */
  readonly after?: (config: C) => Promise<LogFields>;
}

/** Returns the exit code. */
export async function runMigrationJob<C>(job: MigrationJob<C>): Promise<number> {
  const { words, schema, directory, logger } = job;
  const [mode, ...more] = words;
  if (more.length > 0 || !(mode === undefined || mode === '--check' || mode === '--report')) {
    process.stderr.write(
      'The only argument is --check, or --report, whose exit code is 0: both look, and change nothing.\n',
    );
    return 1;
  }
  const failed = mode === '--report' ? 0 : 1;
  try {
    const config = job.readConfig();
    if (!(await job.check(config, newestMigration(directory)))) {
      logger.error('nothing was changed: the checks above failed');
      return failed;
    }
    if (mode !== undefined) return 0;
    const applied = await migrate(job.migrator(), schema, directory);
    logger.info('migrated', { migrations: applied.length, ...(await job.after?.(config)) });
    return 0;
  } catch (error) {
    report(error, schema, logger);
    return failed;
  }
}

function report(error: unknown, schema: string, logger: Logger): void {
  if (error instanceof ConfigurationError) process.stderr.write(`${error.message}\n`);
  else if (error instanceof MigrationFailed) {
    const { message, version, cause } = error;
    logger.error('migration failed', {
      ...(version === undefined ? {} : { migration: logText(`${schema} ${version}`) }),
      reason: logText(message),
      ...(cause === undefined ? {} : describeError(cause)),
    });
  } else logger.error('migration failed', describeError(error));
}
