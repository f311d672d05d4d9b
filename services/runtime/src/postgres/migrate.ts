// The migration job: checks the installation, then runs plain SQL migrations under an advisory lock, each in one
// transaction, except those that create an index concurrently.
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { describeError, type LogFields, type Logger, logText } from '../process/logger.ts';
import { ConfigurationError } from '../process/settings.ts';
import { endConnection } from './connection.ts';
import { migrationFiles, newestMigration } from './schema-version.ts';
import { isState, stateOf } from './sqlstate.ts';

/** The migration is rolled back; those before it stay. */
class MigrationFailed extends Error {
  readonly version: number | undefined;

  constructor(reason: string, version?: number, cause?: unknown) {
    super(reason, { cause });
    this.version = version;
  }
}

const lockTimeoutMs = 10_000;
const connectMs = 5_000;

/** `-- after 0004`: the previous version's newest migration (decision 0019). */
const followsLine = /^-- after (\d{4})$/m;

/**
 * To the newest migration in `directory`, or to `through`; returns the versions it applied. A newer schema is left
 * alone. Waits 10 s, or the connection's `lock_timeout`, for a concurrent job. Throws MigrationFailed.
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
  // An unhandled error would end the process.
  client.on('error', () => {});
  try {
    await client.connect();
    await takeLock(client, `migrate ${schema}`, Number(lock_timeout) || Number.POSITIVE_INFINITY);
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
    const files = migrationFiles(directory).map(({ version, path }) => {
      const sql = readFileSync(path, 'utf8');
      return { version, sql, after: Number(followsLine.exec(sql)?.[1] ?? 0) };
    });
    const changed = files.find(
      ({ version, sql }) => applied.has(version) && applied.get(version) !== hash('sha256', sql),
    );
    if (changed)
      throw new MigrationFailed(
        'this database was made by an earlier draft of this migration: begin with an empty one',
        changed.version,
      );
    const pending = files.filter(({ version }) => version <= through && !applied.has(version));
    const newest = Math.max(0, ...applied.keys());
    // An interrupted installation skips nothing.
    const isFirst = applied.size === 0 || applied.has(beginning);
    const skipping = !isFirst && pending.find(({ after }) => after > newest);
    if (skipping)
      throw new MigrationFailed(
        `this upgrade skips a version: install the one whose newest ${schema} migration is ${skipping.after} first`,
        skipping.version,
      );
    if (applied.size === 0)
      await client.query(`insert into ${schema}.schema_migrations (version) values (${beginning})`);
    for (const { version, sql } of pending) await apply(client, schema, version, sql);
    if (isFirst) await client.query(`delete from ${schema}.schema_migrations where version = ${beginning}`);
    return pending.map(({ version }) => version);
  } finally {
    await endConnection(client);
  }
}

/** In `schema_migrations` until the first installation is complete. */
const beginning = 0;

/** A waiting statement would hold a snapshot, which `create index concurrently` waits for. */
async function takeLock(client: pg.Client, name: string, withinMs: number): Promise<void> {
  // Detects a silent server. Later queries may take long.
  const text = 'select pg_try_advisory_lock(hashtext($1)) as taken';
  const ask = { text, values: [name], query_timeout: connectMs };
  const begun = performance.now();
  while (!(await client.query<{ taken: boolean }>(ask)).rows[0]?.taken) {
    if (performance.now() - begun > withinMs)
      throw new MigrationFailed('another job is migrating this schema: wait until it ends');
    await sleep(100);
  }
}

/** Allowed in no transaction: such a migration is that one statement. */
const isConcurrent = /^\s*create (?:unique )?index concurrently\b/im;

async function apply(client: pg.Client, schema: string, version: number, sql: string): Promise<void> {
  const [begin, commit] = isConcurrent.test(sql) ? [] : ['begin', 'commit'];
  try {
    if (begin) await client.query(begin);
    else await dropInvalidIndexes(client, schema);
    await client.query(`set ${begin ? 'local ' : ''}search_path = ${schema}`);
    // An interrupted job's index is kept: invalid ones are dropped above.
    await client.query(sql).catch((error) => {
      if (begin || !isState(stateOf(error), 'duplicate_table')) throw error;
    });
    await client.query(`insert into ${schema}.schema_migrations (version, sha256) values ($1, $2)`, [
      version,
      hash('sha256', sql),
    ]);
    if (commit) await client.query(commit);
  } catch (error) {
    if (begin) await client.query('rollback').catch(() => {});
    const reason = isState(stateOf(error), 'lock_not_available')
      ? 'a table was locked: end the transaction that holds it, then run this job again'
      : 'Postgres refused a statement';
    throw new MigrationFailed(reason, version, error);
  }
}

/** Left by a job that failed while it created an index concurrently. */
async function dropInvalidIndexes(client: pg.Client, schema: string): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select indexrelid::regclass::text as name from pg_index join pg_class on pg_class.oid = indexrelid
      where relnamespace = $1::regnamespace and not indisvalid`,
    [schema],
  );
  for (const { name } of rows) await client.query(`drop index concurrently ${name}`);
}

export interface MigrationJob<C> {
  /** Arguments of the command line. */
  readonly words: readonly string[];
  readonly schema: string;
  readonly directory: string;
  readonly logger: Logger;
  /** Throws ConfigurationError. */
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
      'Pass nothing, --check or --report. Both options only run the checks; --report always exits with 0.\n',
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
    if (error instanceof ConfigurationError) process.stderr.write(`${error.message}\n`);
    else logger.error('migration failed', describeFailure(error, schema));
    return failed;
  }
}

function describeFailure(error: unknown, schema: string): LogFields {
  if (!(error instanceof MigrationFailed)) return describeError(error);
  const { message, version, cause } = error;
  return {
    ...(version === undefined ? {} : { migration: logText(`${schema} ${version}`) }),
    reason: logText(message),
    ...(cause === undefined ? {} : describeError(cause)),
  };
}
