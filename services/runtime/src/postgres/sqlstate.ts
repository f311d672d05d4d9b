// SQLSTATEs by their condition names (PostgreSQL, appendix A). The first condition of a class names the class.
import pg from 'pg';

const states = {
  connection_exception: '08000',
  protocol_violation: '08P01',
  feature_not_supported: '0A000',
  character_not_in_repertoire: '22021',
  unique_violation: '23505',
  read_only_sql_transaction: '25006',
  invalid_sql_statement_name: '26000',
  invalid_authorization_specification: '28000',
  invalid_catalog_name: '3D000',
  invalid_schema_name: '3F000',
  serialization_failure: '40001',
  deadlock_detected: '40P01',
  insufficient_privilege: '42501',
  undefined_table: '42P01',
  duplicate_prepared_statement: '42P05',
  duplicate_table: '42P07',
  insufficient_resources: '53000',
  lock_not_available: '55P03',
  operator_intervention: '57000',
  cannot_connect_now: '57P03',
  system_error: '58000',
};
type Condition = keyof typeof states;

/** Undefined for an error that Postgres did not send: a socket's code, such as EPIPE, looks like an SQLSTATE. */
export function stateOf(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined;
}

export function isState(state: string | undefined, ...conditions: readonly Condition[]): boolean {
  return conditions.some((condition) => states[condition] === state);
}

export function isOfClass(state: string | undefined, ...conditions: readonly Condition[]): boolean {
  return conditions.some((condition) => states[condition].slice(0, 2) === state?.slice(0, 2));
}
