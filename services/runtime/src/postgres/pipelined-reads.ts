// Reads of many requests over few Postgres connections: none waits for the answer of another before it is sent, and those
// of one turn leave in one write. Never what waits for a lock: it would hold up all that were sent after it.
import pg from 'pg';
import { corkUntilNextTick } from '../process/cork-until-next-tick.ts';
import { describeError } from '../process/logger.ts';
import { outsideRequests, requireTime } from '../process/request-context.ts';
import { runtimeMetrics } from '../process/runtime-metrics.ts';
import { annotate } from '../process/spans.ts';
import { type ConnectionOptions, connectionClass, defaultLifetimeMs } from './connection.ts';
import { observePool, type Queries, runStatement } from './pool.ts';

export interface PipelinedReads extends Queries {
  readonly close: () => Promise<void>;
}

export interface ReadOptions extends ConnectionOptions {
  /**
   * Connections at most, measured as a pool is: a read that runs long delays those alone that were sent with it, and others
   * once all are in use. One without, beside a pool.
   */
  readonly poolSize?: number;
}

/** Reads of one turn that share a connection where there are several. */
const mostTogether = 4;

interface Line {
  readonly client: Promise<pg.Client>;
  connected: boolean;
  /** Another has taken its place: it answers what was sent over it and is sent no more. */
  retired: boolean;
}

/** Between two tries to replace a connection, in milliseconds. */
const replacementPause = 5_000;

/** A connection that reads are sent over, and the next one once it has lived its time. */
class ReplacedLine {
  /** Reads that were sent over it and have no answer yet. */
  unanswered = 0;
  answeredAt = 0;
  readonly #options: ConnectionOptions;
  readonly #Connection: typeof pg.Client;
  #current: Line | undefined;
  #replacing: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: ConnectionOptions, Connection: typeof pg.Client) {
    this.#options = options;
    this.#Connection = Connection;
  }

  get isConnected(): boolean {
    return this.#current?.connected === true;
  }

  pick(): Line {
    if (this.#current === undefined) {
      this.#current = this.#connect();
      this.#replaceAfter(this.#lifetime);
    }
    return this.#current;
  }

  forget(line: Line): void {
    if (this.#current === line) this.#current = undefined;
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#replacing);
    const client = await this.#current?.client.catch(() => undefined);
    await client?.end();
  }

  get #lifetime(): number {
    return this.#options.lifetimeMs ?? defaultLifetimeMs;
  }

  #connect(): Line {
    const client = new this.#Connection();
    const connecting = client.connect().then(() => {
      line.connected = true;
      return client;
    });
    const line: Line = { client: connecting, connected: false, retired: false };
    client.on('error', (error) => {
      this.forget(line);
      const { logger } = this.#options;
      outsideRequests(() => logger.warn('Postgres connection for reads lost', describeError(error)));
    });
    line.client.catch(() => this.forget(line));
    return line;
  }

  #replaceAfter(milliseconds: number): void {
    clearTimeout(this.#replacing);
    this.#replacing = setTimeout(() => this.#replace(), milliseconds).unref();
  }

  async #replace(): Promise<void> {
    const old = this.#current;
    if (old === undefined) return;
    const next = this.#connect();
    const client = await next.client.catch(() => undefined);
    if (client === undefined || this.#closed || this.#current !== old) {
      await client?.end();
      // One that a read has made meanwhile has its own time set.
      if (this.#current === old && !this.#closed) this.#replaceAfter(replacementPause);
      return;
    }
    this.#current = next;
    old.retired = true;
    this.#replaceAfter(this.#lifetime);
    // Ends when all that was sent over it is answered.
    await (await old.client.catch(() => undefined))?.end();
  }
}

/**
 * Connects with the first read, and again with the first read after the connection was lost. A read that is
 * not answered in time ends the connection: it and all that wait behind it fail with
 * `temporarily_unavailable`, as they do when Postgres goes away. A connection that has lived its time goes on until
 * the next one is there: no read fails for it.
 */
export function openReads(options: ReadOptions): PipelinedReads {
  // One for all: an account that cannot be used is logged once.
  const Connection = connectionClass(options, { pipeline: true });
  const lines = Array.from({ length: options.poolSize ?? 1 }, () => new ReplacedLine(options, Connection));
  const choose = lineChooser(lines);
  const countWait = observeLines(lines, options);

  const send = async (query: pg.QueryConfig, over: ReplacedLine): Promise<{ readonly rows: unknown[] }> => {
    const asked = performance.now();
    const line = over.pick();
    const client = await line.client;
    if (line.retired) return send(query, over);
    const sent = performance.now();
    try {
      corkUntilNextTick(client.connection.stream);
      return await client.query(query);
    } catch (error) {
      if (!isStatementError(error)) over.forget(line);
      throw error;
    } finally {
      // Postgres begins it when it has answered the one before.
      const begun = Math.max(sent, over.answeredAt);
      annotate(() => ({ 'course_exchange.db.connection.wait_ms': Math.round(begun - asked) }));
      over.answeredAt = performance.now();
    }
  };
  const sendOverOne = async (query: pg.QueryConfig): Promise<{ readonly rows: unknown[] }> => {
    requireTime();
    countWait();
    const line = choose();
    line.unanswered += 1;
    try {
      return await send(query, line);
    } finally {
      line.unanswered -= 1;
    }
  };

  return {
    query: (statement, values) => runStatement(sendOverOne, statement, values),
    close: async () => {
      await Promise.all(lines.map((line) => line.close()));
    },
  };
}

/** Those of one turn together, over the connection that owes least. Another is opened when all are in use. */
function lineChooser(lines: readonly ReplacedLine[]): () => ReplacedLine {
  const [first] = lines as readonly [ReplacedLine];
  if (lines.length === 1) return () => first;
  let [chosen, together, opening] = [first, 0, false];

  const openAnother = (): void => {
    const closed = lines.find((line) => !line.isConnected);
    if (opening || closed === undefined) return;
    opening = true;
    const mayOpen = () => {
      opening = false;
    };
    closed.pick().client.then(mayOpen, () => setTimeout(mayOpen, replacementPause).unref());
  };
  const leastBusy = (): ReplacedLine => {
    let best: ReplacedLine | undefined;
    for (const line of lines)
      if (line.isConnected && line.unanswered < (best?.unanswered ?? Number.POSITIVE_INFINITY)) best = line;
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

/** Returns what is to be called before a read. What more than one connection each would take waits. */
function observeLines(
  lines: readonly ReplacedLine[],
  { applicationName, poolSize }: ReadOptions,
): () => void {
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

/** After any other error the connection is ending, whether or not its end has been seen. */
function isStatementError(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.severity === 'ERROR';
}
