// How ioredis is set up so that Redis is a database: a command is sent once, and never waits in a queue for a
// connection that is not there. For every connection, whatever leads to it.
import type { Redis, RedisOptions } from 'ioredis';
import type { RedisCredentials, RedisTarget } from './settings.ts';

export interface ConnectionOptions {
  readonly connectionName: string;
  /** Longest time for one command in milliseconds. */
  readonly commandTimeoutMs: number;
}

/** The way from a key to its connection. */
export interface Route {
  /** Undefined while the key has no master that answers. */
  readonly masterOf: (key: string) => Redis | undefined;
  /** Undefined unless every key has one. */
  readonly masters: () => readonly Redis[] | undefined;
  readonly watch: (on: { readonly failed: (error: Error) => void; readonly ready: () => void }) => void;
  readonly close: () => void;
}

export function retryDelay(times: number): number {
  return Math.min(50 * times, 500);
}

export function safeOptions(target: RedisTarget, { connectionName, commandTimeoutMs }: ConnectionOptions) {
  return {
    connectionName,
    commandTimeout: commandTimeoutMs,
    connectTimeout: 1_000,
    // A peer that vanished without a word: the connection is given up, and made anew elsewhere.
    socketTimeout: 2 * commandTimeoutMs,
    // An unanswered command may have consumed a token: never send it again (decision 0010).
    autoResendUnfulfilledCommands: false,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
    ...accessOptions(target),
  } satisfies RedisOptions;
}

type Login = Omit<RedisCredentials, 'authority'>;

/** Read again for each connection: user, password, and the authority that is trusted. */
export function accessOptions({ tls, credentials }: RedisTarget) {
  const { authority, ...login } = credentials();
  const given = Object.entries(login).filter(([, value]) => value !== undefined);
  const trust = authority === undefined ? {} : { ca: authority };
  return {
    ...(Object.fromEntries(given) as { readonly [K in keyof Login]?: string }),
    ...(tls ? { tls: trust, sentinelTLS: trust, enableTLSForSentinelMode: true } : {}),
  } satisfies RedisOptions;
}

/** For nodes of a Cluster: the host as it was written, since its certificate speaks of it and its address may change. */
export function hostAsWritten(
  host: string,
  found: (error: NodeJS.ErrnoException | null, address: string) => void,
): void {
  found(null, host);
}

/** `socketTimeout` sees a peer that hangs only where a question is open: there is one every second. */
export function pingWhileIdle(redis: Redis): void {
  let asking: NodeJS.Timeout | undefined;
  redis.on('ready', () => {
    clearInterval(asking);
    asking = setInterval(() => redis.ping().catch(() => {}), 1_000).unref();
  });
  redis.on('close', () => clearInterval(asking));
}
