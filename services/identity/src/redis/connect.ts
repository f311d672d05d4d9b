// redis/ is how identity speaks to Redis: one server, Sentinels or a Cluster, scripts, and the confirmation by replicas. Keys and
// their meaning stand with their nouns, in files that end in -store.ts.

// Store operations on Redis: one server, Sentinels, or a Cluster. Faults become `temporarily_unavailable`.
import { setTimeout as sleep } from 'node:timers/promises';
import { unavailable } from '@course-exchange/runtime/process/errors';
import { describeError, type Logger, logText } from '@course-exchange/runtime/process/logger';
import { outsideRequests } from '@course-exchange/runtime/process/request-context';
import type { SpanAttributes } from '@course-exchange/runtime/process/span-attributes';
import { annotate, inSpan } from '@course-exchange/runtime/process/spans';
import { SpanKind } from '@opentelemetry/api';
import type { Redis } from 'ioredis';
import { connectCluster } from './cluster.ts';
import type { ConnectionOptions, Route } from './options.ts';
import { createReplicas, type Replicas } from './replicas.ts';
import { connectMaster } from './sentinel.ts';
import type { RedisTarget } from './settings.ts';

export interface RedisStore {
  /** A command without an answer in this time has failed, executed or not. */
  readonly commandTimeoutMs: number;
  readonly replicas: Replicas;
  /**
   * In a span, on the connection to the master of `key`, whose slot `work` shares. Errors become
   * `Failure('temporarily_unavailable')`.
   */
  readonly run: <T>(operation: string, key: string, work: (redis: Redis) => Promise<T>) => Promise<T>;
  /** One, except in a Cluster. Throws while one is missing. */
  readonly masters: () => readonly Redis[];
  /** Resolves once all masters answer; rejects after `withinMs` (ms). */
  readonly ready: (withinMs?: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface RedisOptions extends ConnectionOptions {
  readonly target: RedisTarget;
  readonly minReplicas: number;
  readonly logger: Logger;
}

const system = logText('redis');

export function connectRedis({ target, minReplicas, logger, ...options }: RedisOptions): RedisStore {
  const route = target.cluster ? connectCluster(target, options) : connectMaster(target, options, logger);
  return {
    commandTimeoutMs: options.commandTimeoutMs,
    replicas: createReplicas(minReplicas),
    run: (operation, key, work) =>
      inSpan(
        `redis ${operation}`,
        SpanKind.CLIENT,
        { 'db.system.name': system, 'db.operation.name': logText(operation) },
        async () => {
          try {
            const redis = route.masterOf(key);
            if (redis?.status !== 'ready')
              throw new Error('there is no connection to the master of this key');
            return await work(redis);
          } catch (error) {
            annotate(() => errorStatus(error));
            throw unavailable('Redis', error);
          }
        },
      ),
    masters: () => {
      const masters = route.masters();
      if (masters === undefined) throw unavailable('Redis');
      return masters;
    },
    ready: followState(route, logger),
    close: async () => route.close(),
  };
}

/** Such as `READONLY`: the rest may quote the command. */
function errorStatus(error: unknown): SpanAttributes {
  const [word] =
    (error instanceof Error && error.name === 'ReplyError' && /^[A-Z]+/.exec(error.message)) || [];
  return word === undefined ? {} : { 'db.response.status_code': logText(word) };
}

function followState(route: Route, logger: Logger): RedisStore['ready'] {
  let lost: unknown;
  const first = Promise.withResolvers<void>();
  route.watch({
    failed: (error) => {
      if (!lost) outsideRequests(() => logger.warn('Redis connection failed', describeError(error)));
      lost = error;
    },
    ready: () => {
      if (lost) outsideRequests(() => logger.info('Redis connection restored'));
      lost = undefined;
      first.resolve();
    },
  });
  const tooLate = async (withinMs: number) => {
    await sleep(withinMs, undefined, { ref: false });
    throw lost ?? new Error('there is no connection to a master');
  };
  return (withinMs) =>
    withinMs === undefined ? first.promise : Promise.race([first.promise, tooLate(withinMs)]);
}
