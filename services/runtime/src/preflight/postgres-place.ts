// Which database a login came to, so that all accounts of an installation are found to share one.
import type { Queries } from '../postgres.ts';

export interface Place {
  /** Absent where the login may not ask for it. */
  readonly server?: string;
  readonly database: string;
}

const databaseStatement = {
  name: 'database identifier',
  text: 'select oid::text as database from pg_database where datname = current_database()',
};

const serverStatement = {
  name: 'server identifier',
  text: 'select system_identifier::text as server from pg_control_system()',
};

export async function readPlace(login: Queries): Promise<Place> {
  const [found] = await login.query<{ database: string }>(databaseStatement, []);
  const [control] = await login.query<{ server: string }>(serverStatement, []).catch((error: unknown) => {
    if ((error as { readonly code?: string }).code === '42501') return [];
    throw error;
  });
  return { database: found?.database ?? '', ...control };
}

/** A standby of the same database has the same identifiers; another server or database has not. */
export function differ(one: Place, other: Place): boolean {
  const knowBoth = one.server !== undefined && other.server !== undefined;
  return one.database !== other.database || (knowBoth && one.server !== other.server);
}
