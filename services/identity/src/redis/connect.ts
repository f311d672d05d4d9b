// Redis as a database: a command is never sent twice and never waits in a queue for a connection that is not
// there. One server, a master named by Sentinels, or a Cluster. Faults become `temporarily_unavailable`.
import { corkUntilNextTick } from '@course-exchange/runtime/process/cork-until-next-tick';
import { unavailable } from '@course-exchange/runtime/process/errors';
import { describeError, type Logger, logText } from '@course-exchange/runtime/process/logger';
import { outsideRequests } from '@course-exchange/runtime/process/request-context';
import type { SpanAttributes } from '@course-exchange/runtime/process/span-attributes';
import { annotate, inSpan } from '@course-exchange/runtime/process/spans';
import { SpanKind } from '@opentelemetry/api';
import type { Redis } from 'ioredis';
import { connectCluster, type Redirection } from './cluster.ts';
import type { ConnectionOptions } from './options.ts';
import { createReplicas, type Replicas } from './replicas.ts';
import { connectMaster } from './sentinel.ts';
import type { RedisTarget } from './settings.ts';

export interface RedisStore {
  /** A command that is not answered in this time counts as failed, whether or not it is executed yet. */
  readonly commandTimeoutMs: number;
  readonly replicas: Replicas;
  /**
   * Runs one store operation in a span, on the connection to the master that has `key`; any error of Redis becomes
   * `Failure('temporarily_unavailable')`. The first command of `work` is on `key` or one of its slot, and is sent
   * before `work` waits for anything; what follows reaches the same node.
   */
  readonly run: <T>(operation: string, key: string, work: (redis: Redis) => Promise<T>) => Promise<T>;
  /** Connections to all masters: one, except in a Cluster. Throws while one is missing. */
  readonly masters: () => readonly Redis[];
  /** Calls `then` once all masters answer for the first time. */
  readonly onceReady: (then: () => void) => void;
  readonly close: () => Promise<void>;
}

export interface RedisOptions extends ConnectionOptions {
  readonly target: RedisTarget;
  /** How many replicas must have a write before it counts; 0: there is none. */
  readonly minReplicas: number;
  readonly logger: Logger;
}

const system = logText('redis');

/** The way from a key to its connection. */
interface Route {
  readonly masterOf: (key: string) => Redis | undefined;
  readonly masters: () => readonly Redis[] | undefined;
  readonly redirect: (error: unknown, key: string) => Promise<Redirection | undefined>;
  readonly watch: (on: { readonly failed: (error: Error) => void; readonly ready: () => void }) => void;
  readonly close: () => void;
}

export function connectRedis({ target, minReplicas, logger, ...options }: RedisOptions): RedisStore {
  const route = target.cluster ? routeOfCluster(target, options) : routeOfMaster(target, options, logger);
  const state = logConnectionState(route, logger);
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
            return await runAt(route, key, work);
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
    onceReady: state.onceReady,
    close: async () => route.close(),
  };
}

/** The first word of what Redis replied, such as `READONLY`: the others may quote the command. */
function errorStatus(error: unknown): SpanAttributes {
  const [word] =
    (error instanceof Error && error.name === 'ReplyError' && /^[A-Z]+/.exec(error.message)) || [];
  return word === undefined ? {} : { 'db.response.status_code': logText(word) };
}

const maxRedirects = 3;

/** A redirected command was not executed: the way after it is no repetition. */
async function runAt<T>(route: Route, key: string, work: (redis: Redis) => Promise<T>): Promise<T> {
  let next: Redirection | undefined = { redis: route.masterOf(key) ?? noConnection(), asking: false };
  for (let left = maxRedirects; ; left--) {
    const { redis, asking } = next;
    try {
      if (redis.status === 'ready') corkUntilNextTick(redis.stream);
      if (asking) redis.asking().catch(() => {});
      return await work(redis);
    } catch (error) {
      next = left > 0 ? await route.redirect(error, key) : undefined;
      if (next === undefined) throw error;
      annotate(() => ({ 'course_exchange.retries': maxRedirects + 1 - left }));
    }
  }
}

function noConnection(): never {
  throw new Error('there is no connection to the master of this key');
}

function routeOfMaster(target: RedisTarget, options: ConnectionOptions, logger: Logger): Route {
  const { redis, close } = connectMaster(target, {
    ...options,
    onSentinelLost: (error) =>
      outsideRequests(() => logger.warn('Sentinel cannot be followed', describeError(error))),
  });
  return {
    masterOf: () => redis,
    masters: () => [redis],
    redirect: async () => undefined,
    watch: ({ failed, ready }) => {
      redis.on('error', failed);
      redis.on('ready', ready);
    },
    close,
  };
}

function routeOfCluster(target: RedisTarget, options: ConnectionOptions): Route {
  const { cluster, ...route } = connectCluster(target, options);
  return {
    ...route,
    watch: ({ failed, ready }) => {
      const complete = () => {
        if (route.masters()) ready();
      };
      cluster.on('error', failed);
      cluster.on('node error', failed);
      cluster.on('refresh', complete);
      cluster.on('+node', (node: Redis) => node.on('ready', complete));
    },
  };
}

/** One line when the connection is lost and one when it is back, however many tries lie between. */
function logConnectionState(route: Route, logger: Logger): Pick<RedisStore, 'onceReady'> {
  let [lost, wasReady] = [false, false];
  const waiting: (() => void)[] = [];
  route.watch({
    failed: (error) => {
      if (!lost) outsideRequests(() => logger.warn('Redis connection failed', describeError(error)));
      lost = true;
    },
    ready: () => {
      if (lost) outsideRequests(() => logger.info('Redis connection restored'));
      lost = false;
      wasReady = true;
      for (const then of waiting.splice(0)) then();
    },
  });
  return { onceReady: (then) => (wasReady ? then() : void waiting.push(then)) };
}
