// The version of a Postgres schema. Code works with its own version and newer ones (expand–contract).
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../process/errors.ts';
import type { Reads } from './pool.ts';
import { settingsDropped, storeFailure } from './refusal.ts';
import { isState, stateOf } from './sqlstate.ts';

const filePattern = /^(\d{4})-[a-z0-9-]+\.sql$/;

export function newestMigration(directory: string): number {
  return Math.max(0, ...migrationFiles(directory).map(({ version }) => version));
}

/** Those in `directory`, `0001-name.sql`, oldest first. */
export function migrationFiles(directory: string): { version: number; path: string }[] {
  return readdirSync(directory)
    .filter((file) => filePattern.test(file))
    .sort()
    .map((file) => ({ version: Number(file.slice(0, 4)), path: join(directory, file) }));
}

/** 0 if no migration was applied, or if that cannot be read. */
export async function appliedVersion(database: Reads, schema: string): Promise<number> {
  return (await readVersion(database, schema)).version;
}

interface Version {
  readonly version: number;
  readonly searchPath: string;
}

async function readVersion(database: Reads, schema: string): Promise<Version> {
  const text = `select coalesce(max(version), 0) as version, current_setting('search_path') as "searchPath"
    from ${schema}.schema_migrations`;
  const none = { version: 0, searchPath: schema };
  try {
    const [row = none] = await database.query<Version>({ isRead: true, name: 'schema version', text }, []);
    return row;
  } catch (error) {
    const unreadable = isState(
      stateOf(error),
      'undefined_table',
      'invalid_schema_name',
      'insufficient_privilege',
    );
    if (unreadable) return none;
    throw error;
  }
}

/** Undefined when `schema` serves code that needs version `needed`. */
export async function schemaProblem(
  database: Reads,
  schema: string,
  needed: number,
): Promise<string | undefined> {
  try {
    const { version, searchPath } = await readVersion(database, schema);
    if (searchPath !== schema) return settingsDropped;
    return version >= needed
      ? undefined
      : `The ${schema} schema has version ${version}, this service needs version ${needed}: run its migrations`;
  } catch (error) {
    return (error instanceof Failure ? error : storeFailure(error)).message;
  }
}
