// How Postgres refuses, or what stands before it: sentences by SQLSTATE.
import pg from 'pg';
import { Failure, unavailable } from '../process/errors.ts';

/** PgBouncer and RDS Proxy, which refuse start-up parameters that Postgres takes. */
const ofPoolers: readonly string[] = ['08P01', '0A000'];

const serverItself = 'name the server itself (docs/install.md)';

/** Postgres has the settings that a connection asks for. */
export const settingsDropped = `A connection pooler stands before Postgres and drops the settings of a connection: ${serverItself}`;

/** Why no connection was made; undefined if no SQLSTATE says so. `account`: the setting that names it. */
export function connectionRefusal(error: unknown, account: string): string | undefined {
  const code = sqlState(error);
  if (code === undefined) return undefined;
  if (ofPoolers.includes(code))
    return `A connection pooler stands before Postgres in ${account} (${code}): ${serverItself}`;
  return isOfAccount(error)
    ? `Postgres refuses the account of ${account} (${code})`
    : `Postgres answers and refuses connections of ${account} (${code})`;
}

/** SQLSTATE class "Invalid Authorization Specification". */
export function isOfAccount(error: unknown): boolean {
  return sqlState(error)?.startsWith('28') === true;
}

/** What a login needs, by its SQLSTATE or another code. */
export function loginRemedy(code: string): string {
  if (ofPoolers.includes(code)) return `a connection pooler stands before Postgres: ${serverItself}`;
  return /^5[37]...$/.test(code)
    ? 'Postgres takes no connection now: try again when it does'
    : 'correct address, database, TLS, password or role';
}

/** PgBouncer makes connections without Postgres and refuses later, or shares one, where a statement is prepared twice. */
const ofLatePoolers: readonly string[] = ['08P01', '42P05'];

/** Of a statement on a connection that was made. */
export function storeFailure(error: unknown): Failure<'temporarily_unavailable'> {
  const code = sqlState(error);
  if (code === undefined) return unavailable('Postgres', error);
  const sentence = ofLatePoolers.includes(code)
    ? `A connection pooler stands before Postgres (${code}): ${serverItself}`
    : `Postgres refuses (${code})`;
  return new Failure('temporarily_unavailable', sentence, { cause: error });
}

function sqlState(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined;
}
