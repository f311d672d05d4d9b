// The connection to the one server, or to the master that the Sentinels name. It is made again in the background.
import { Redis, type RedisOptions } from 'ioredis';
import {
  accessOptions,
  askWhileIdle,
  type ConnectionOptions,
  retryDelay,
  safeOptions,
} from './redis-connection.ts';
import { followSentinels } from './redis-sentinels.ts';
import type { RedisPlace } from './redis-settings.ts';

export interface MasterOptions extends ConnectionOptions {
  /** A Sentinel cannot be followed: told once, until it can. */
  readonly unfollowed: (error: Error) => void;
}

export interface Master {
  readonly redis: Redis;
  readonly close: () => void;
}

export function connectMaster(place: RedisPlace, options: MasterOptions): Master {
  const redis = new Redis({
    ...safeOptions(place, options),
    ...whereabouts(place, () => readAgain()),
    db: place.database,
    retryStrategy: retryDelay,
    lazyConnect: true,
  });
  // ioredis reads its options at each try.
  const readAgain = () => Object.assign(redis.options, accessOptions(place));
  redis.on('reconnecting', readAgain);
  askWhileIdle(redis);
  redis.connect().catch(() => {});
  const unfollow = place.sentinelMaster === undefined ? () => {} : follow(redis, place, options);
  return {
    redis,
    close: () => {
      unfollow();
      redis.disconnect();
    },
  };
}

/** A connection that still stands is left when a Sentinel names another master; one in the making, once it stands. */
function follow(redis: Redis, place: RedisPlace, options: MasterOptions): () => void {
  let stale = false;
  const leave = () => {
    stale = redis.status !== 'ready';
    if (!stale) redis.stream.destroy();
  };
  redis.on('ready', () => {
    if (stale) leave();
  });
  return followSentinels(place, { ...options, changed: leave });
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
