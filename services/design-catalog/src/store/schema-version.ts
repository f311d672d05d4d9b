// Table `schema_migrations`: whether Postgres answers and is as new as this code needs it.
import { Failure } from '@course-exchange/runtime/failure';
import type { Queries } from '@course-exchange/runtime/postgres';
import { postgresProblem } from '@course-exchange/runtime/postgres-connections';

const newestApplied = {
  name: 'schema version',
  text: 'select coalesce(max(version), 0) as version from schema_migrations',
};

/** One sentence when the schema cannot serve code that needs version `needed`; undefined when it can. */
export async function schemaProblem(database: Queries, needed: number): Promise<string | undefined> {
  try {
    const [row] = await database.query<{ version: number }>(newestApplied, []);
    const version = row?.version ?? 0;
    return version >= needed
      ? undefined
      : `The catalog schema has version ${version}, this service needs version ${needed}: run its migrations`;
  } catch (error) {
    if (error instanceof Failure) return postgresProblem(error);
    return 'The catalog schema is missing or may not be read: run its migrations';
  }
}
