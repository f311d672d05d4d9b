// Connections to Postgres, each with the account that the settings name at that moment, and replaced after some
// minutes.
import { timeBudget } from '@course-exchange/rules/time-budget';
import pg from 'pg';
import { Failure } from '../process/errors.ts';
import { describeError, type Logger, logText } from '../process/logger.ts';
import { outsideRequests } from '../process/request-context.ts';
import { ConfigurationError } from '../process/settings.ts';
import { connectionRefusal, isOfAccount } from './refusal.ts';
import type { PostgresAccess } from './settings.ts';

export interface ConnectionOptions {
  /** An address, or an account that is read for each connection. */
  readonly url: string | PostgresAccess;
  readonly applicationName: string;
  /** In milliseconds; the server enforces it and the client watches it. */
  readonly statementTimeoutMs: number;
  readonly readOnly?: boolean;
  readonly schema: string;
  readonly logger: Logger;
  /** In milliseconds; default ten minutes. */
  readonly lifetimeMs?: number;
  /** Limit of connecting, in milliseconds; default `timeBudget.connect`. */
  readonly connectMs?: number;
}

export const defaultLifetimeMs = 600_000;

/** Limit for the server to close a connection that ends (ms). */
const closeMs = 1_000;

const { DATE, TIMESTAMP, TIMESTAMPTZ } = pg.types.builtins;
const types = new pg.TypeOverrides();
for (const type of [DATE, TIMESTAMP, TIMESTAMPTZ]) types.setTypeParser(type, (value) => value);

export function connectionConfig(options: Omit<ConnectionOptions, 'logger'>): pg.ClientConfig {
  const { url } = options;
  return {
    ...(typeof url === 'string' ? { connectionString: url } : url.read()),
    application_name: options.applicationName,
    connectionTimeoutMillis: options.connectMs ?? timeBudget.connect,
    idle_in_transaction_session_timeout: 5_000,
    statement_timeout: options.statementTimeoutMs,
    query_timeout: options.statementTimeoutMs + 200,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types,
    options: `-c search_path=${options.schema} -c timezone=UTC -c datestyle=ISO${options.readOnly ? ' -c default_transaction_read_only=on' : ''}`,
  };
}

/** Even to a server that does not answer. Never throws. */
export async function endConnection(client: pg.Client): Promise<void> {
  const overdue = setTimeout(() => client.connection.stream.destroy(), closeMs);
  await client.end().catch(() => {});
  clearTimeout(overdue);
}

/**
 * A pg.Client that reads its account when it is made. An unreadable account or a refused connection fails `connect`
 * with `temporarily_unavailable`: a constructor that throws inside the pool would end the process.
 */
export function connectionClass(options: ConnectionOptions, more: pg.ClientConfig = {}): typeof pg.Client {
  const account = accountReporter(options);
  return class extends pg.Client {
    readonly #unreadable: unknown;

    constructor() {
      let config: pg.ClientConfig = {};
      let unreadable: unknown;
      try {
        config = connectionConfig(options);
      } catch (error) {
        unreadable = error ?? new Error('unreadable');
      }
      super({ ...config, ...more });
      this.#unreadable = unreadable;
    }

    override connect(): Promise<pg.Client>;
    override connect(callback: Parameters<pg.Client['connect']>[0]): void;
    override connect(callback?: (error: never, client: never) => void): Promise<pg.Client> | undefined {
      const connecting =
        this.#unreadable === undefined ? super.connect() : Promise.reject(this.#unreadable as Error);
      const connected = connecting.then(
        () => {
          account.recovered();
          return this;
        },
        (error: unknown) => {
          throw account.failureOf(error);
        },
      );
      if (callback === undefined) return connected;
      const done = callback as (error: Error | null) => void;
      connected.then(() => done(null), done);
      return undefined;
    }
  };
}

/** Logs once while no connection can be made. */
function accountReporter({ url, logger }: ConnectionOptions) {
  const account = typeof url === 'string' ? 'its address' : url.setting;
  let reported: string | undefined;
  return {
    recovered: (): void => {
      reported = undefined;
    },
    failureOf: (error: unknown): unknown => {
      const sentence = accountProblem(error, account) ?? connectionRefusal(error, account);
      if (sentence === undefined) return error;
      if (sentence !== reported) outsideRequests(() => report(logger, sentence, error));
      reported = sentence;
      return new Failure('temporarily_unavailable', sentence, { cause: error });
    },
  };
}

function report(logger: Logger, problem: string, error: unknown): void {
  const mistake = error instanceof ConfigurationError && { mistake: logText(error.mistakes.join('; ')) };
  const fields = { problem: logText(problem), ...mistake, ...describeError(error) };
  if (isOfAccount(error) || accountProblem(error, '') !== undefined)
    logger.warn('Postgres account is unusable', fields);
  else logger.warn('Postgres refuses connections', fields);
}

function accountProblem(error: unknown, account: string): string | undefined {
  const { syscall } = error as { syscall?: unknown };
  return error instanceof ConfigurationError || syscall === 'open'
    ? `A file of the account of ${account} cannot be read`
    : undefined;
}
