// Redis as a database: a command is never sent twice and never waits in a queue for a connection that is not
// there. One server, a master named by Sentinels, or a Cluster. Faults become `temporarily_unavailable`.
import { SpanKind } from '@opentelemetry/api';
import type { Redis } from 'ioredis';
import { unavailable } from './failure.ts';
import { gatherWrites } from './gathered-writes.ts';
import { describeError, type Logger } from './logger.ts';
import { connectCluster, type Redirection } from './redis-cluster.ts';
import type { ConnectionOptions } from './redis-connection.ts';
import { connectMaster } from './redis-master.ts';
import type { RedisPlace } from './redis-settings.ts';
import { inSpan } from './telemetry.ts';

export interface RedisStore {
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
  readonly place: RedisPlace;
  readonly logger: Logger;
}

/** The way from a key to its connection. */
interface Route {
  readonly masterOf: (key: string) => Redis | undefined;
  readonly masters: () => readonly Redis[] | undefined;
  readonly redirect: (error: unknown, key: string) => Promise<Redirection | undefined>;
  readonly watch: (on: { readonly failed: (error: Error) => void; readonly ready: () => void }) => void;
  readonly close: () => void;
}

export function connectRedis({ place, logger, ...options }: RedisOptions): RedisStore {
  const route = place.cluster ? routeOfCluster(place, options) : routeOfMaster(place, options, logger);
  const state = tellOfConnection(route, logger);
  return {
    run: (operation, key, work) =>
      inSpan(
        `redis ${operation}`,
        SpanKind.CLIENT,
        { 'db.system.name': 'redis', 'db.operation.name': operation },
        async () => {
          try {
            return await runAt(route, key, work);
          } catch (error) {
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

/** A redirected command was not executed: the way after it is no repetition. */
async function runAt<T>(route: Route, key: string, work: (redis: Redis) => Promise<T>): Promise<T> {
  let next: Redirection | undefined = { redis: route.masterOf(key) ?? noConnection(), asking: false };
  for (let left = 3; ; left--) {
    const { redis, asking } = next;
    try {
      if (redis.status === 'ready') gatherWrites(redis.stream);
      if (asking) redis.asking().catch(() => {});
      return await work(redis);
    } catch (error) {
      next = left > 0 ? await route.redirect(error, key) : undefined;
      if (next === undefined) throw error;
    }
  }
}

function noConnection(): never {
  throw new Error('there is no connection to the master of this key');
}

function routeOfMaster(place: RedisPlace, options: ConnectionOptions, logger: Logger): Route {
  const { redis, close } = connectMaster(place, {
    ...options,
    unfollowed: (error) => logger.warn('Sentinel cannot be followed', describeError(error)),
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

function routeOfCluster(place: RedisPlace, options: ConnectionOptions): Route {
  const { cluster, ...route } = connectCluster(place, options);
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
function tellOfConnection(route: Route, logger: Logger): Pick<RedisStore, 'onceReady'> {
  let [lost, wasReady] = [false, false];
  const waiting: (() => void)[] = [];
  route.watch({
    failed: (error) => {
      if (!lost) logger.warn('Redis connection failed', describeError(error));
      lost = true;
    },
    ready: () => {
      if (lost) logger.info('Redis connection restored');
      lost = false;
      wasReady = true;
      for (const then of waiting.splice(0)) then();
    },
  });
  return { onceReady: (then) => (wasReady ? then() : void waiting.push(then)) };
}
