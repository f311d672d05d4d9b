// Whether the schema is as new as this code: a service on an older one is not ready.
import type { Queries } from '@course-exchange/runtime/postgres';

const newest = {
  name: 'schema version',
  text: 'select coalesce(max(version), 0) as version from schema_migrations',
};

/** Number of the newest migration that ran. */
export async function readSchemaVersion(database: Queries): Promise<number> {
  const [row] = await database.query<{ version: number }>(newest, []);
  return row?.version ?? 0;
}
