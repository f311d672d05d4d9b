// How ioredis is set up so that Redis is a database: a command is sent once, and never waits in a queue for a
// connection that is not there. For one server, and for the master that Sentinels name.
import { Redis, type RedisOptions } from 'ioredis';
import type { RedisCredentials, RedisPlace } from './redis-settings.ts';

export interface ConnectionOptions {
  readonly connectionName: string;
  /** Longest time for one command in milliseconds. */
  readonly commandTimeoutMs: number;
}

export function retryDelay(times: number): number {
  return Math.min(50 * times, 500);
}

/** For every connection, whatever leads to it. */
export function safeOptions(place: RedisPlace, { connectionName, commandTimeoutMs }: ConnectionOptions) {
  return {
    connectionName,
    commandTimeout: commandTimeoutMs,
    connectTimeout: 1_000,
    // A peer that vanished without a word: the connection is given up, and made anew elsewhere.
    socketTimeout: 2 * commandTimeoutMs,
    // An unanswered command may have consumed a token: never send it again (platform facts).
    autoResendUnfulfilledCommands: false,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
    ...(place.tls ? { tls: place.tls } : {}),
    ...credentialOptions(place.credentials()),
  } satisfies RedisOptions;
}

type CredentialOptions = { readonly [K in keyof RedisCredentials]?: string };

export function credentialOptions(credentials: RedisCredentials): CredentialOptions {
  const given = Object.entries(credentials).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as CredentialOptions;
}

/** The one server, or the master that the Sentinels name now. Connects in the background. */
export function connectMaster(place: RedisPlace, options: ConnectionOptions): Redis {
  const { tls, database } = place;
  const redis = new Redis({
    ...safeOptions(place, options),
    ...whereabouts(place, () => readAgain()),
    ...(tls ? { sentinelTLS: tls, enableTLSForSentinelMode: true } : {}),
    db: database,
    retryStrategy: retryDelay,
    lazyConnect: true,
  });
  // ioredis reads its options at each try.
  const readAgain = () => Object.assign(redis.options, credentialOptions(place.credentials()));
  redis.on('reconnecting', readAgain);
  redis.connect().catch(() => {});
  return redis;
}

function whereabouts({ hosts, sentinelMaster }: RedisPlace, beforeRetry: () => void) {
  const [first] = hosts;
  if (sentinelMaster === undefined) return { host: first?.host ?? '', port: first?.port ?? 6379 };
  return {
    name: sentinelMaster,
    sentinels: hosts.map(({ host, port }) => ({ host, port: port ?? 26379 })),
    sentinelCommandTimeout: 1_000,
    // Undefined would give up for good.
    sentinelRetryStrategy: (times: number) => {
      beforeRetry();
      return retryDelay(times);
    },
  } satisfies RedisOptions;
}
