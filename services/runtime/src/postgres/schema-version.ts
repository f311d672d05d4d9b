// The version of a schema in Postgres, and whether this code may work on it: on its own and on newer ones
// (expand–contract).

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../process/errors.ts';
import { postgresProblem } from './connection.ts';
import type { Queries, Statement } from './pool.ts';

const filePattern = /^(\d{4})-[a-z0-9-]+\.sql$/;

/** Number of the newest migration in `directory`: the schema version that this code knows. */
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

/** Number of the newest migration that ran in `schema`; 0 where none has. */
export async function appliedVersion(database: Queries, schema: string): Promise<number> {
  const [table] = await database.query<{ found: boolean }>(
    {
      name: 'migrations table',
      // A schema that belongs to somebody else is the finding of the check of roles.
      text: `select exists (select from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = $1 and c.relname = 'schema_migrations'
          and has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'select')) as found`,
    },
    [schema],
  );
  if (!table?.found) return 0;
  const [row] = await database.query<{ version: number }>(newestIn(schema), []);
  return row?.version ?? 0;
}

function newestIn(schema: string): Statement {
  return {
    name: 'schema version',
    text: `select coalesce(max(version), 0) as version from ${schema}.schema_migrations`,
  };
}

/** One sentence when `schema` cannot serve code that needs version `needed`; undefined when it can. */
export async function schemaProblem(
  database: Queries,
  schema: string,
  needed: number,
): Promise<string | undefined> {
  try {
    const [row] = await database.query<{ version: number }>(newestIn(schema), []);
    const version = row?.version ?? 0;
    return version >= needed
      ? undefined
      : `The ${schema} schema has version ${version}, this service needs version ${needed}: run its migrations`;
  } catch (error) {
    if (error instanceof Failure) return postgresProblem(error);
    return `The ${schema} schema is missing or may not be read: run its migrations`;
  }
}
