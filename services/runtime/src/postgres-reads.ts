// Short reads of many requests over one Postgres connection: none waits for the answer of another before it is
// sent, and those of one turn leave in one write. Beside a pool, never instead: what may run long or wait for a
// lock would hold up all the others.
import pg from 'pg';
import { gatherWrites } from './gathered-writes.ts';
import { describeError } from './logger.ts';
import { type ConnectionOptions, connectionConfig, type Queries, runStatement } from './postgres.ts';

export interface PipelinedReads extends Queries {
  readonly close: () => Promise<void>;
}

/**
 * Connects with the first read, and again with the first read after the connection was lost. A read that is
 * not answered in time ends the connection: it and all that wait behind it fail with
 * `temporarily_unavailable`, as they do when Postgres goes away.
 */
export function openReads(options: ConnectionOptions): PipelinedReads {
  let current: Promise<pg.Client> | undefined;

  function forget(connection: Promise<pg.Client>): void {
    if (current === connection) current = undefined;
  }

  function connect(): Promise<pg.Client> {
    const client = new pg.Client({ ...connectionConfig(options), pipeline: true });
    const connection = client.connect().then(() => client);
    client.on('error', (error) => {
      forget(connection);
      options.logger.warn('Postgres connection for reads lost', describeError(error));
    });
    connection.catch(() => forget(connection));
    current = connection;
    return connection;
  }

  async function send(query: pg.QueryConfig): Promise<pg.QueryResult> {
    const connection = current ?? connect();
    const client = await connection;
    try {
      gatherWrites(client.connection.stream);
      return await client.query(query);
    } catch (error) {
      if (!isStatementError(error)) forget(connection);
      throw error;
    }
  }

  return {
    query: (statement, values) => runStatement(send, statement, values),
    close: async () => {
      const client = await current?.catch(() => undefined);
      await client?.end();
    },
  };
}

/** After any other error the connection is ending, whether or not its end has been seen. */
function isStatementError(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.severity === 'ERROR';
}
