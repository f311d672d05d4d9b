// Reads pipelined over few Postgres connections (decision 0018). Never use it for a read that waits for a lock: it
// would block those behind it.
import pg from 'pg';
import { describeError } from '../process/logger.ts';
import { outsideRequests, requireTime } from '../process/request-context.ts';
import { runtimeMetrics } from '../process/runtime-metrics.ts';
import { annotate } from '../process/spans.ts';
import { type ConnectionOptions, connectionClass, defaultLifetimeMs } from './connection.ts';
import { type Database, observePool, type Reads, runStatement } from './pool.ts';

export type PipelinedReads = Reads & Pick<Database, 'close'>;

export interface ReadOptions extends ConnectionOptions {
  /** At most, measured like a pool's. Default: one, beside a pool. */
  readonly poolSize?: number;
}

/**
 * Connects at the first read, also after a loss. A read that times out ends its connection: it and those behind it
 * fail with `temporarily_unavailable`.
 */
export function openReads(options: ReadOptions): PipelinedReads {
  // Shared, so that an unusable account is logged once.
  const Connection = connectionClass(options, { pipeline: true });
  const lines = Array.from({ length: options.poolSize ?? 1 }, () => new Line(options, Connection));
  const choose = lineChooser(lines);
  const countWait = observeLines(lines, options);
  const send = async (query: pg.QueryConfig) => {
    requireTime();
    countWait();
    return choose().send(query);
  };
  return {
    query: (statement, values) => runStatement(send, statement, values),
    close: async () => {
      await Promise.all(lines.map((line) => line.close()));
    },
  };
}

/** Between two attempts to replace or open a connection, in milliseconds. */
const retryPause = 5_000;

/** A connection and its successor: no read fails for the change. */
class Line {
  unanswered = 0;
  isConnected = false;
  readonly #options: ConnectionOptions;
  readonly #Connection: typeof pg.Client;
  #current: Promise<pg.Client> | undefined;
  #replaceAt = 0;
  #answeredAt = 0;
  #closed = false;

  constructor(options: ConnectionOptions, Connection: typeof pg.Client) {
    this.#options = options;
    this.#Connection = Connection;
  }

  async send(query: pg.QueryConfig): Promise<{ readonly rows: unknown[] }> {
    const asked = performance.now();
    this.unanswered += 1;
    try {
      let connection = this.open();
      let client = await connection;
      // It may have been replaced or lost meanwhile.
      while (connection !== this.#current) {
        connection = this.open();
        client = await connection;
      }
      const sent = performance.now();
      try {
        joinWrites(client);
        return await client.query(query);
      } catch (error) {
        if (!isStatementError(error)) this.#forget(connection);
        throw error;
      } finally {
        // Postgres starts it once it has answered the previous one.
        const begun = Math.max(sent, this.#answeredAt);
        annotate(() => ({ 'course_exchange.db.connection.wait_ms': Math.round(begun - asked) }));
        this.#answeredAt = performance.now();
      }
    } finally {
      this.unanswered -= 1;
    }
  }

  open(): Promise<pg.Client> {
    if (this.#current === undefined) this.#current = this.#connect();
    else if (this.isConnected && performance.now() >= this.#replaceAt) void this.#replace(this.#current);
    return this.#current;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await endOf(this.#current);
  }

  #connect(): Promise<pg.Client> {
    const client = new this.#Connection();
    const connecting = client.connect().then(() => {
      // A successor does not take over when its predecessor was lost meanwhile.
      this.isConnected ||= this.#current === connecting;
      this.#replaceAt = performance.now() + (this.#options.lifetimeMs ?? defaultLifetimeMs);
      return client;
    });
    client.on('error', (error) => {
      this.#forget(connecting);
      const { logger } = this.#options;
      outsideRequests(() => logger.warn('Postgres connection for reads lost', describeError(error)));
    });
    connecting.catch(() => this.#forget(connecting));
    return connecting;
  }

  async #replace(old: Promise<pg.Client>): Promise<void> {
    this.#replaceAt = performance.now() + retryPause;
    const next = this.#connect();
    const client = await next.catch(() => undefined);
    const takesOver = client !== undefined && !this.#closed && this.#current === old;
    if (takesOver) this.#current = next;
    // `end` waits for the reads in flight.
    await endOf(takesOver ? old : next);
  }

  #forget(connection: Promise<pg.Client>): void {
    if (this.#current !== connection) return;
    this.#current = undefined;
    this.isConnected = false;
  }
}

/** One write to the kernel for the reads of an event-loop tick. */
function joinWrites({ connection: { stream } }: pg.Client): void {
  if (stream.writableCorked > 0) return;
  stream.cork();
  setImmediate(() => stream.uncork());
}

async function endOf(connection: Promise<pg.Client> | undefined): Promise<void> {
  const client = await connection?.catch(() => undefined);
  await client?.end();
}

const mostTogether = 4;

/** Reads of one tick share the least busy connection. */
function lineChooser(lines: readonly Line[]): () => Line {
  const [first] = lines as readonly [Line];
  let [chosen, together, openAt] = [first, 0, 0];

  const openAnother = (): void => {
    const closed = lines.find((line) => !line.isConnected);
    if (closed === undefined || performance.now() < openAt) return;
    openAt = performance.now() + retryPause;
    const opened = () => {
      openAt = 0;
    };
    closed.open().then(opened, () => {});
  };
  const leastBusy = (): Line => {
    const [best] = lines.filter((line) => line.isConnected).sort((a, b) => a.unanswered - b.unanswered);
    if (best !== undefined && best.unanswered > 0) openAnother();
    return best ?? first;
  };
  const endTurn = (): void => {
    together = 0;
  };
  return () => {
    if (together === 0) setImmediate(endTurn);
    if (together % mostTogether === 0) chosen = leastBusy();
    together += 1;
    return chosen;
  };
}

function observeLines(lines: readonly Line[], { applicationName, poolSize }: ReadOptions): () => void {
  const used = () => lines.filter(({ unanswered }) => unanswered > 0).length;
  const connected = () => lines.filter(({ isConnected }) => isConnected).length;
  const unanswered = () => lines.reduce((sum, line) => sum + line.unanswered, 0);
  const of = { 'db.client.connection.pool.name': applicationName };
  runtimeMetrics.pipelinedReads.observe(() => [[unanswered(), of]]);
  if (poolSize === undefined) return () => {};
  return observePool(applicationName, lines.length, {
    used,
    idle: () => Math.max(0, connected() - used()),
    waiting: () => Math.max(0, unanswered() - lines.length),
    isFull: () => unanswered() >= lines.length,
  });
}

/** The connection is lost after any other error. */
function isStatementError(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.severity === 'ERROR';
}
