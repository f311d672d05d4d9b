// One Redis connection as a database: a command is never sent twice and never waits in a queue for a
// connection that is not there. Faults become `temporarily_unavailable`.
import { SpanKind } from '@opentelemetry/api';
import { Redis } from 'ioredis';
import { unavailable } from './failure.ts';
import { gatherWrites } from './gathered-writes.ts';
import { describeError, type Logger } from './logger.ts';
import { inSpan } from './telemetry.ts';

export interface RedisStore {
  readonly redis: Redis;
  /** Runs one store operation in a span; any error of Redis becomes `Failure('temporarily_unavailable')`. */
  readonly run: <T>(operation: string, work: (redis: Redis) => Promise<T>) => Promise<T>;
  readonly close: () => Promise<void>;
}

export interface RedisOptions {
  readonly url: string;
  readonly connectionName: string;
  /** Longest time for one command in milliseconds. */
  readonly commandTimeoutMs: number;
  readonly logger: Logger;
}

export function connectRedis({ url, connectionName, commandTimeoutMs, logger }: RedisOptions): RedisStore {
  const redis = new Redis(url, {
    connectionName,
    commandTimeout: commandTimeoutMs,
    connectTimeout: 1_000,
    // An unanswered command may have consumed a token: never send it again (platform facts).
    autoResendUnfulfilledCommands: false,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (times) => Math.min(50 * times, 500),
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
  });
  // One line when the connection is lost and one when it is back, however many tries lie between.
  let lost = false;
  redis.on('error', (error) => {
    if (!lost) logger.warn('Redis connection failed', describeError(error));
    lost = true;
  });
  redis.on('ready', () => {
    if (lost) logger.info('Redis connection restored');
    lost = false;
  });
  return {
    redis,
    run: (operation, work) =>
      inSpan(
        `redis ${operation}`,
        SpanKind.CLIENT,
        { 'db.system.name': 'redis', 'db.operation.name': operation },
        async () => {
          try {
            if (redis.status === 'ready') gatherWrites(redis.stream);
            return await work(redis);
          } catch (error) {
            throw unavailable('Redis', error);
          }
        },
      ),
    close: async () => {
      redis.disconnect();
    },
  };
}
