// How Postgres refuses, or what stands before it: sentences by SQLSTATE.
import { Failure, unavailable } from '../process/errors.ts';
import { isOfClass, isState, stateOf } from './sqlstate.ts';

/** PgBouncer and RDS Proxy, which refuse start-up parameters that Postgres takes. */
const ofPoolers = ['protocol_violation', 'feature_not_supported'] as const;

const serverItself = 'name the server itself (docs/install.md)';

/** Postgres has the settings that a connection asks for. */
export const settingsDropped = `A connection pooler stands before Postgres and drops the settings of a connection: ${serverItself}`;

/** Why no connection was made; undefined if no SQLSTATE says so. `account`: the setting that names it. */
export function connectionRefusal(error: unknown, account: string): string | undefined {
  const code = stateOf(error);
  if (code === undefined) return undefined;
  if (isState(code, ...ofPoolers))
    return `A connection pooler stands before Postgres in ${account} (${code}): ${serverItself}`;
  return isOfAccount(error)
    ? `Postgres refuses the account of ${account} (${code})`
    : `Postgres answers and refuses connections of ${account} (${code})`;
}

export function isOfAccount(error: unknown): boolean {
  return isOfClass(stateOf(error), 'invalid_authorization_specification');
}

/** What a login needs, by its SQLSTATE or another code. */
export function loginRemedy(code: string): string {
  if (isState(code, ...ofPoolers)) return `a connection pooler stands before Postgres: ${serverItself}`;
  return isOfClass(code, 'insufficient_resources', 'operator_intervention')
    ? 'Postgres takes no connection now: try again when it does'
    : 'correct address, database, TLS, password or role';
}

/** PgBouncer makes connections without Postgres and refuses later, or shares one, where a statement is prepared twice. */
const ofLatePoolers = ['protocol_violation', 'duplicate_prepared_statement'] as const;

/** Of a statement on a connection that was made. */
export function storeFailure(error: unknown): Failure<'temporarily_unavailable'> {
  const code = stateOf(error);
  if (code === undefined) return unavailable('Postgres', error);
  const sentence = isState(code, ...ofLatePoolers)
    ? `A connection pooler stands before Postgres (${code}): ${serverItself}`
    : `Postgres refuses (${code})`;
  return new Failure('temporarily_unavailable', sentence, { cause: error });
}
