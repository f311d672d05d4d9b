// Which statements of Postgres wait for which others, as pg_blocking_pids says, and have waited in the last minutes.
import pg from 'pg';

const query = `
  select blocking.pid || ' ' || blocking.xact_start || ' ' || md5(waiting.query) as id, blocking.pid, blocking.state, blocking.usename as user,
    blocking.application_name as application, left(blocking.query, 300) as blocking,
    waiting.usename as waiter, left(waiting.query, 300) as waiting,
    extract(epoch from waiting.query_start)::float8 * 1000 as since
  from pg_stat_activity waiting, unnest(pg_blocking_pids(waiting.pid)) as blocker(pid), pg_stat_activity blocking
  where blocking.pid = blocker.pid`;

/** With the columns of the query. */
export interface Lock {
  /** One transaction and what it blocks. */
  readonly id: string;
  /** When the first statement began to wait, and when one was last seen to. */
  readonly since: number;
  readonly until: number;
}

const mostLocks = 50;

/** Each look resolves with the locks known, the newest first. A database that does not answer adds none. */
export function watchLocks(connectionString: string): () => Promise<readonly Lock[]> {
  const pool = new pg.Pool({
    connectionString,
    max: 1,
    connectionTimeoutMillis: 1_000,
    query_timeout: 1_000,
  });
  pool.on('error', () => {});
  let known: readonly Lock[] = [];
  return async () => {
    const seen = await pool.query<Omit<Lock, 'until'>>(query).catch(() => ({ rows: [] }));
    for (const row of seen.rows) {
      const { since } = known.find(({ id }) => id === row.id) ?? row;
      const others = known.filter(({ id }) => id !== row.id);
      known = [{ ...row, since, until: Date.now() }, ...others].slice(0, mostLocks);
    }
    return known;
  };
}
