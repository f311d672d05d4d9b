// postgres/ is how services speak to Postgres: pools, pipelined reads, accounts, schema versions and the migration job. Statements
// stand with their nouns, in files that end in -table.ts.

// A pool of Postgres connections: prepared statements, spans, and store faults separated from statement errors.
import { timeBudget } from '@course-exchange/rules/time-budget';
import { SpanKind } from '@opentelemetry/api';
import pg from 'pg';
import { DetailedFailure, Failure, unavailable } from '../process/errors.ts';
import { describeError, logText } from '../process/logger.ts';
import { outsideRequests, requireTime } from '../process/request-context.ts';
import { runtimeMetrics } from '../process/runtime-metrics.ts';
import { annotate, annotateWait, inSpan } from '../process/spans.ts';
import { type ConnectionOptions, connectionClass, defaultLifetimeMs } from './connection.ts';
import { storeFailure } from './refusal.ts';
import { isOfClass, isState, stateOf } from './sqlstate.ts';

/** Prepared once per connection under its name, which also names its span. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** It changes nothing. */
export interface ReadStatement extends Statement {
  readonly isRead: true;
}

/** Connections that run reads alone: another statement does not compile. */
export interface Reads {
  readonly query: <Row>(statement: ReadStatement, values: readonly unknown[]) => Promise<Row[]>;
}

export interface Queries extends Reads {
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

/** A statement as a function of its values. */
export function allRows<Row, Values extends readonly unknown[] = []>(name: string, text: string) {
  return (queries: Queries, ...values: Values): Promise<Row[]> => queries.query<Row>({ name, text }, values);
}

/** Undefined when there is none. */
export function firstRow<Row, Values extends readonly unknown[] = []>(name: string, text: string) {
  const find = allRows<Row, Values>(name, text);
  return async (queries: Queries, ...values: Values): Promise<Row | undefined> =>
    (await find(queries, ...values))[0];
}

/** Of a read. Undefined when there is none. */
export function firstRead<Row, Values extends readonly unknown[] = []>(name: string, text: string) {
  const statement = { name, text, isRead: true } as const;
  return async (reads: Reads, ...values: Values): Promise<Row | undefined> =>
    (await reads.query<Row>(statement, values))[0];
}

/** Throws when there is none. */
export function onlyRow<Row, Values extends readonly unknown[] = []>(name: string, text: string) {
  const find = firstRow<Row, Values>(name, text);
  return async (queries: Queries, ...values: Values): Promise<Row> => {
    const row = await find(queries, ...values);
    if (row === undefined) throw new Error(`no row: ${name}`);
    return row;
  };
}

/** SQL: milliseconds since the epoch. */
export function milliseconds(expression: string): string {
  return `(extract(epoch from ${expression}) * 1000)::float8`;
}

export function openDatabase(options: DatabaseOptions): Database {
  const pool = new pg.Pool({
    Client: connectionClass(options),
    max: options.poolSize,
    connectionTimeoutMillis: options.connectMs ?? timeBudget.connect,
    // The next request should not wait for a connection to open.
    idleTimeoutMillis: 60_000,
    min: 1,
    maxLifetimeSeconds: (options.lifetimeMs ?? defaultLifetimeMs) / 1_000,
  });
  pool.on('error', (error) =>
    outsideRequests(() => options.logger.warn('idle Postgres connection lost', describeError(error))),
  );
  const countWait = observePool(options.applicationName, options.poolSize, {
    used: () => pool.totalCount - pool.idleCount,
    idle: () => pool.idleCount,
    waiting: () => pool.waitingCount,
    isFull: () => pool.idleCount === 0 && pool.totalCount >= options.poolSize,
  });

  return {
    query: async (statement, values) => {
      requireTime();
      countWait();
      // Like the pool's own `query`: a failed query ends its connection.
      const send = (query: pg.QueryConfig) =>
        onConnection(pool, (client, discard) =>
          client.query(query).catch((error: Error) => {
            discard(error);
            throw error;
          }),
        );
      return runStatement(send, statement, values);
    },
    transaction: async (work) => {
      requireTime();
      countWait();
      return onConnection(pool, (client, discard) => inTransaction(client, discard, work));
    },
    close: () => pool.end(),
  };
}

interface PoolState {
  readonly used: () => number;
  readonly idle: () => number;
  readonly waiting: () => number;
  readonly isFull: () => boolean;
}

/** Returns a function to call before a connection is requested. */
export function observePool(name: string, limit: number, state: PoolState): () => void {
  const of = { 'db.client.connection.pool.name': name };
  const { connections, connectionLimit, connectionRequests, connectionWaits } = runtimeMetrics;
  connections.observe(() => [
    [state.idle(), { ...of, 'db.client.connection.state': 'idle' }],
    [state.used(), { ...of, 'db.client.connection.state': 'used' }],
  ]);
  connectionLimit.observe(() => [[limit, of]]);
  connectionRequests.observe(() => [[state.waiting(), of]]);
  return () => {
    if (state.isFull()) connectionWaits.add(of);
  };
}

const postgresql = logText('postgresql');

/** Sends one statement by `send`, in a span; store faults become `temporarily_unavailable`. */
export function runStatement<Row>(
  send: (query: pg.QueryConfig) => Promise<{ readonly rows: unknown[] }>,
  { name, text }: Statement,
  values: readonly unknown[],
): Promise<Row[]> {
  const attributes = { 'db.system.name': postgresql, 'db.operation.name': logText(name) };
  return inSpan(`postgres ${name}`, SpanKind.CLIENT, attributes, async () => {
    try {
      const { rows } = await send({ name, text, values: values as unknown[] });
      annotate(() => ({ 'db.response.returned_rows': rows.length }));
      return rows as Row[];
    } catch (error) {
      const state = stateOf(error);
      if (state !== undefined) annotate(() => ({ 'db.response.status_code': logText(state) }));
      if (isState(state, 'character_not_in_repertoire'))
        throw new DetailedFailure('invalid_argument', 'A text holds a NUL.', { cause: error });
      throw isStoreFault(error) ? storeFailure(error) : error;
    }
  });
}

type Work<T> = (client: pg.PoolClient, discard: (broken: Error) => void) => Promise<T>;

async function onConnection<T>(pool: pg.Pool, work: Work<T>): Promise<T> {
  const connecting = annotateWait('course_exchange.db.connection.wait_ms', () => pool.connect());
  const client = await connecting.catch((error: unknown) => {
    throw error instanceof Failure ? error : unavailable('Postgres', error);
  });
  let broken: Error | undefined;
  // Unhandled, an error would end the process; the pool handles only those of idle connections.
  const discard = (error: Error): void => {
    broken = error;
  };
  client.on('error', discard);
  try {
    requireTime();
    return await work(client, discard);
  } finally {
    client.off('error', discard);
    client.release(broken);
  }
}

async function inTransaction<T>(
  client: pg.PoolClient,
  discard: (broken: Error) => void,
  work: (queries: Queries) => Promise<T>,
): Promise<T> {
  const run: Queries['query'] = (statement, values) =>
    runStatement((query) => client.query(query), statement, values);
  try {
    await run({ name: 'begin', text: 'begin' }, []);
    const result = await work({ query: run });
    await run({ name: 'commit', text: 'commit' }, []);
    return result;
  } catch (error) {
    await run({ name: 'rollback', text: 'rollback' }, []).catch(discard);
    if (isReadOnly(error)) discard(error as Error);
    throw error;
  }
}

const faultClasses = [
  'connection_exception',
  // A read behind one that was not prepared.
  'invalid_sql_statement_name',
  'invalid_authorization_specification',
  'invalid_catalog_name',
  'insufficient_resources',
  'operator_intervention',
  'system_error',
] as const;

/** The server is now a standby: a new connection may reach the primary. */
function isReadOnly(error: unknown): boolean {
  return isState(stateOf(error instanceof Failure ? error.cause : error), 'read_only_sql_transaction');
}

function isStoreFault(error: unknown): boolean {
  if (error instanceof Failure || !(error instanceof Error)) return false;
  if (!(error instanceof pg.DatabaseError)) return !(error instanceof TypeError);
  // FATAL ends the connection, PANIC the server.
  const isEnded = /^(FATAL|PANIC)$/.test(error.severity ?? '');
  return isEnded || isReadOnly(error) || isOfClass(error.code, ...faultClasses);
}
