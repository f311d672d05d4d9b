// One Postgres connection pool: named prepared statements, timestamps as strings, spans, and faults of the
// store told apart from mistakes in a statement.
import { SpanKind } from '@opentelemetry/api';
import pg from 'pg';
import { Failure, unavailable } from './failure.ts';
import { describeError } from './logger.ts';
import {
  type ConnectionOptions,
  connectionClass,
  connectMs,
  defaultLifetimeMs,
} from './postgres-connections.ts';
import { inSpan } from './telemetry.ts';

/** A statement is prepared once per connection under its name; the name also names its span. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

export interface Queries {
  /** Rows of one statement. Throws `Failure('temporarily_unavailable')` when Postgres does not answer. */
  readonly query: <Row>(statement: Statement, values: readonly unknown[]) => Promise<Row[]>;
}

export interface Database extends Queries {
  /** Runs `work` in one transaction; rolls back when it throws. */
  readonly transaction: <T>(work: (queries: Queries) => Promise<T>) => Promise<T>;
  readonly close: () => Promise<void>;
}

export interface DatabaseOptions extends ConnectionOptions {
  readonly poolSize: number;
}

/** A pool that lets its connections go too soon makes requests wait for new ones (ms). */
const idleMs = 60_000;

export function openDatabase(options: DatabaseOptions): Database {
  const pool = new pg.Pool({
    Client: connectionClass(options),
    max: options.poolSize,
    connectionTimeoutMillis: connectMs,
    idleTimeoutMillis: idleMs,
    maxLifetimeSeconds: (options.lifetimeMs ?? defaultLifetimeMs) / 1_000,
  });
  pool.on('error', (error) => options.logger.warn('idle Postgres connection lost', describeError(error)));

  return {
    query: (statement, values) => run(pool, statement, values),
    transaction: (work) => inTransaction(pool, work),
    close: () => pool.end(),
  };
}

function run<Row>(
  queryable: pg.Pool | pg.PoolClient,
  statement: Statement,
  values: readonly unknown[],
): Promise<Row[]> {
  return runStatement((query) => queryable.query(query), statement, values);
}

/** Sends one statement by `send`, in a span; faults of the store become `temporarily_unavailable`. */
export function runStatement<Row>(
  send: (query: pg.QueryConfig) => Promise<pg.QueryResult>,
  { name, text }: Statement,
  values: readonly unknown[],
): Promise<Row[]> {
  const attributes = { 'db.system.name': 'postgresql', 'db.operation.name': name };
  return inSpan(`postgres ${name}`, SpanKind.CLIENT, attributes, async () => {
    try {
      const result = await send({ name, text, values: values as unknown[] });
      return result.rows as Row[];
    } catch (error) {
      throw isFault(error) ? unavailable('Postgres', error) : error;
    }
  });
}

async function inTransaction<T>(pool: pg.Pool, work: (queries: Queries) => Promise<T>): Promise<T> {
  const client = await pool.connect().catch((error: unknown) => {
    throw error instanceof Failure ? error : unavailable('Postgres', error);
  });
  let broken: Error | undefined;
  // The pool listens to idle connections alone: a lost one that nobody listens to would end the process. The
  // query that it is lost in fails by itself.
  const lost = (error: Error): void => {
    broken = error;
  };
  client.on('error', lost);
  try {
    await run(client, { name: 'begin', text: 'begin' }, []);
    const result = await work({ query: (statement, values) => run(client, statement, values) });
    await run(client, { name: 'commit', text: 'commit' }, []);
    return result;
  } catch (error) {
    await run(client, { name: 'rollback', text: 'rollback' }, []).catch((failed: Error) => {
      broken = failed;
    });
    if (isReadOnly(error)) broken = error as Error;
    throw error;
  } finally {
    client.off('error', lost);
    client.release(broken);
  }
}

/** SQLSTATE classes of a store that is away, lets nobody in, is full, stopping or out of time. */
const faultClasses: readonly string[] = ['08', '28', '3D', '53', '57', '58'];

/** The server is a standby now, or fenced off: a new connection may reach the primary, this one never will. */
const readOnlyTransaction = '25006';

function isReadOnly(error: unknown): boolean {
  const cause = error instanceof Failure ? error.cause : error;
  return cause instanceof pg.DatabaseError && cause.code === readOnlyTransaction;
}

function isFault(error: unknown): boolean {
  if (error instanceof Failure || !(error instanceof Error)) return false;
  // A code such as EPIPE, of a socket, has the form of an SQLSTATE too.
  if (!(error instanceof pg.DatabaseError)) return !(error instanceof TypeError);
  return isReadOnly(error) || faultClasses.includes((error.code ?? '').slice(0, 2));
}
