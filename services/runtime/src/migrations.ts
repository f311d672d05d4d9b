// Runs numbered, plain SQL migrations under an advisory lock, each in a transaction of its own.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';

const filePattern = /^(\d{4})-[a-z0-9-]+\.sql$/;

/** Number of the newest migration in `directory`: the schema version that this code knows. */
export function newestMigration(directory: string): number {
  return Math.max(0, ...migrationFiles(directory).map(({ version }) => version));
}

/**
 * Brings `schema` of the database at `url` up to the newest migration in `directory`; returns the
 * versions it applied. Safe to run from several places at once: one waits for the other.
 */
export async function migrate(url: string, schema: string, directory: string): Promise<number[]> {
  const client = new pg.Client({
    connectionString: url,
    application_name: `migrate ${schema}`,
    lock_timeout: 10_000,
  });
  await client.connect();
  try {
    await client.query('select pg_advisory_lock(hashtext($1))', [`migrate ${schema}`]);
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
    const pending = migrationFiles(directory).filter(({ version }) => !applied.has(version));
    for (const { version, path } of pending) await apply(client, schema, version, readFileSync(path, 'utf8'));
    return pending.map(({ version }) => version);
  } finally {
    await client.end();
  }
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
    await client.query('rollback');
    throw error;
  }
}
