// Options of every connection: a command is sent once, and never queued for a missing connection (decision 0010).
import type { Redis, RedisOptions } from 'ioredis';
import type { RedisCredentials, RedisTarget } from './settings.ts';

export interface ConnectionOptions {
  readonly connectionName: string;
  readonly commandTimeoutMs: number;
}

export interface Route {
  readonly masterOf: (key: string) => Redis | undefined;
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
    socketTimeout: 2 * commandTimeoutMs,
    // An unanswered command may have consumed a token.
    autoResendUnfulfilledCommands: false,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
    ...accessOptions(target),
  } satisfies RedisOptions;
}

type Login = Omit<RedisCredentials, 'authority'>;

/** Read for each connection. */
export function accessOptions({ tls, credentials }: RedisTarget) {
  const { authority, ...login } = credentials();
  const given = Object.entries(login).filter(([, value]) => value !== undefined);
  const trust = authority === undefined ? {} : { ca: authority };
  return {
    ...(Object.fromEntries(given) as { readonly [K in keyof Login]?: string }),
    ...(tls ? { tls: trust, sentinelTLS: trust, enableTLSForSentinelMode: true } : {}),
  } satisfies RedisOptions;
}

/** A node's certificate names its host, and its address may change. */
export function hostAsWritten(
  host: string,
  found: (error: NodeJS.ErrnoException | null, address: string) => void,
): void {
  found(null, host);
}

/** `socketTimeout` counts only while a command is in flight. */
export function pingWhileIdle(redis: Redis): void {
  let asking: NodeJS.Timeout | undefined;
  redis.on('ready', () => {
    clearInterval(asking);
    asking = setInterval(() => redis.ping().catch(() => {}), 1_000).unref();
  });
  redis.on('close', () => clearInterval(asking));
}
