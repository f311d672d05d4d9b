// Whether the schema in Postgres is one that this code may work on: every older one, and newer ones (expand–contract).
import type { Queries } from '../postgres.ts';
import { type Finding, warning } from './checks.ts';

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
  const [row] = await database.query<{ version: number }>(
    {
      name: 'applied version',
      text: `select coalesce(max(version), 0)::integer as version from ${schema}.schema_migrations`,
    },
    [],
  );
  return row?.version ?? 0;
}

export async function checkVersion(
  database: Queries,
  schema: string,
  known: number,
): Promise<readonly Finding[]> {
  const version = await appliedVersion(database, schema);
  return version > known ? [warning(newerSchema(schema, version, known))] : [];
}

export function newerSchema(schema: string, version: number, known: number): string {
  return `The schema ${schema} has version ${version} and this image knows ${known}: it stays as it is; go on only if you mean to run the older version.`;
}
