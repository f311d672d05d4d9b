// Short reads of many requests over one Postgres connection: none waits for the answer of another before it is
// sent, and those of one turn leave in one write. Beside a pool, never instead: what may run long or wait for a
// lock would hold up all the others.
import pg from 'pg';
import { gatherWrites } from './gathered-writes.ts';
import { describeError } from './logger.ts';
import { type Queries, runStatement } from './postgres.ts';
import { type ConnectionOptions, connectionClass, defaultLifetimeMs } from './postgres-connections.ts';

export interface PipelinedReads extends Queries {
  readonly close: () => Promise<void>;
}

interface Line {
  readonly client: Promise<pg.Client>;
  /** Another has taken its place: it answers what was sent over it and is sent no more. */
  retired: boolean;
}

/** Between two tries to replace a connection, in milliseconds. */
const replacementPause = 5_000;

/**
 * Connects with the first read, and again with the first read after the connection was lost. A read that is
 * not answered in time ends the connection: it and all that wait behind it fail with
 * `temporarily_unavailable`, as they do when Postgres goes away. A connection that has lived its time goes on until
 * the next one is there: no read fails for it.
 */
export function openReads(options: ConnectionOptions): PipelinedReads {
  const lifetime = options.lifetimeMs ?? defaultLifetimeMs;
  const Connection = connectionClass(options, { pipeline: true });
  let current: Line | undefined;
  let replacing: NodeJS.Timeout | undefined;
  let closed = false;

  function forget(line: Line): void {
    if (current === line) current = undefined;
  }

  function connect(): Line {
    const client = new Connection();
    const line: Line = { client: client.connect().then(() => client), retired: false };
    client.on('error', (error) => {
      forget(line);
      options.logger.warn('Postgres connection for reads lost', describeError(error));
    });
    line.client.catch(() => forget(line));
    return line;
  }

  function replaceAfter(milliseconds: number): void {
    clearTimeout(replacing);
    replacing = setTimeout(replace, milliseconds).unref();
  }

  async function replace(): Promise<void> {
    const old = current;
    if (old === undefined) return;
    const next = connect();
    const client = await next.client.catch(() => undefined);
    if (client === undefined || closed || current !== old) {
      await client?.end();
      // One that a read has made meanwhile has its own time set.
      if (current === old && !closed) replaceAfter(replacementPause);
      return;
    }
    current = next;
    old.retired = true;
    replaceAfter(lifetime);
    // Ends when all that was sent over it is answered.
    await (await old.client.catch(() => undefined))?.end();
  }

  function pick(): Line {
    if (current === undefined) {
      current = connect();
      replaceAfter(lifetime);
    }
    return current;
  }

  async function send(query: pg.QueryConfig): Promise<pg.QueryResult> {
    const line = pick();
    const client = await line.client;
    if (line.retired) return send(query);
    try {
      gatherWrites(client.connection.stream);
      return await client.query(query);
    } catch (error) {
      if (!isStatementError(error)) forget(line);
      throw error;
    }
  }

  return {
    query: (statement, values) => runStatement(send, statement, values),
    close: async () => {
      closed = true;
      clearTimeout(replacing);
      const client = await current?.client.catch(() => undefined);
      await client?.end();
    },
  };
}

/** After any other error the connection is ending, whether or not its end has been seen. */
function isStatementError(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.severity === 'ERROR';
}
