// Runs numbered, plain SQL migrations under an advisory lock, each in a transaction of its own.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { endConnection } from './postgres-connections.ts';

const filePattern = /^(\d{4})-[a-z0-9-]+\.sql$/;

/** Number of the newest migration in `directory`: the schema version that this code knows. */
export function newestMigration(directory: string): number {
  return Math.max(0, ...migrationFiles(directory).map(({ version }) => version));
}

/** A migration that Postgres refused. Nothing of it is left; those before it stay. */
export class MigrationFailed extends Error {
  readonly version: number;
  /** A lock on a table was not free within `lockTimeoutMs`. */
  readonly waited: boolean;

  constructor(version: number, cause: unknown) {
    super(`Migration ${version} failed`, { cause });
    this.name = 'MigrationFailed';
    this.version = version;
    this.waited = isLockTimeout(cause);
  }
}

/** Another job has migrated the same schema for longer than `lockTimeoutMs`. */
export class MigrationLockTaken extends Error {}

const lockTimeoutMs = 10_000;
const connectMs = 5_000;

/**
 * Brings `schema` of the database at `connection` up to the newest migration in `directory`, or to `through`; returns
 * the versions it applied. A schema that is newer than the directory stays as it is. Safe to run from several places
 * at once: one waits for the other, for at most 10 s. Throws MigrationFailed or MigrationLockTaken.
 */
export async function migrate(
  connection: string | pg.ClientConfig,
  schema: string,
  directory: string,
  through = Number.POSITIVE_INFINITY,
): Promise<number[]> {
  const client = new pg.Client({
    ...(typeof connection === 'string' ? { connectionString: connection } : connection),
    application_name: `migrate ${schema}`,
    lock_timeout: lockTimeoutMs,
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  });
  // A lost connection fails the next query; unheard, it would end the process.
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query(takingTurns(schema)).catch((error) => {
      throw isLockTimeout(error) ? new MigrationLockTaken() : error;
    });
    await client.query(`create schema if not exists ${schema}`);
    await client.query(
      `create table if not exists ${schema}.schema_migrations (
         version integer primary key,
         applied_at timestamptz not null default now())`,
    );
    const { rows } = await client.query<{ version: number }>(
      `select version from ${schema}.schema_migrations`,
    );
    const applied = new Set(rows.map(({ version }) => version));
    const pending = migrationFiles(directory).filter(
      ({ version }) => version <= through && !applied.has(version),
    );
    for (const { version, path } of pending) await apply(client, schema, version, readFileSync(path, 'utf8'));
    return pending.map(({ version }) => version);
  } finally {
    await endConnection(client);
  }
}

/** The first query of all: a server that is silent is found by it. Later ones may take as long as they need. */
function takingTurns(schema: string): pg.QueryConfig & { readonly query_timeout: number } {
  return {
    text: 'select pg_advisory_lock(hashtext($1))',
    values: [`migrate ${schema}`],
    query_timeout: lockTimeoutMs + connectMs,
  };
}

function isLockTimeout(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '55P03';
}

function migrationFiles(directory: string): { version: number; path: string }[] {
  return readdirSync(directory)
    .filter((file) => filePattern.test(file))
    .sort()
    .map((file) => ({ version: Number(file.slice(0, 4)), path: join(directory, file) }));
}

async function apply(client: pg.Client, schema: string, version: number, sql: string): Promise<void> {
  await client.query('begin');
  try {
    await client.query(`set local search_path = ${schema}`);
    await client.query(sql);
    await client.query(`insert into ${schema}.schema_migrations (version) values ($1)`, [version]);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw new MigrationFailed(version, error);
  }
}
