// The connection to the one server, or to the master that the Sentinels name. It is closed once a Sentinel names
// another master: a master that hung would answer with stale data.
import { describeError, type Logger } from '@course-exchange/runtime/process/logger';
import { outsideRequests } from '@course-exchange/runtime/process/request-context';
import { Redis, type RedisOptions } from 'ioredis';
import {
  accessOptions,
  type ConnectionOptions,
  pingWhileIdle,
  type Route,
  retryDelay,
  safeOptions,
} from './options.ts';
import type { RedisTarget } from './settings.ts';

export function connectMaster(target: RedisTarget, options: ConnectionOptions, logger: Logger): Route {
  const { hosts, sentinelMaster, database: db } = target;
  const redis = connect(target, options, {
    ...(sentinelMaster === undefined ? hosts[0] : { name: sentinelMaster, sentinels: [...hosts] }),
    db,
    sentinelCommandTimeout: 1_000,
    // Undefined would give up for good.
    sentinelRetryStrategy: (times) => {
      Object.assign(redis.options, accessOptions(target));
      return retryDelay(times);
    },
  });
  // An open connection to another one is closed at once, an opening one once it is open.
  let named: string | undefined;
  const leave = (master = named) => {
    named = redis.status === 'ready' ? undefined : master;
    if (master === undefined || redis.status !== 'ready') return;
    const { remoteAddress, remotePort } = redis.stream;
    if (master !== `${remoteAddress}:${remotePort}`) redis.stream.destroy();
  };
  redis.on('ready', () => leave());
  const sentinels =
    sentinelMaster === undefined ? [] : hosts.map((host) => follow(host, target, options, leave, logger));
  return {
    masterOf: () => redis,
    masters: () => [redis],
    watch: ({ failed, ready }) => {
      redis.on('error', failed);
      redis.on('ready', ready);
    },
    close: () => {
      for (const each of [redis, ...sentinels]) each.disconnect();
    },
  };
}

function connect(
  target: RedisTarget,
  options: ConnectionOptions,
  more: Omit<RedisOptions, 'replyMapping'>,
): Redis {
  const redis = new Redis({
    ...safeOptions(target, options),
    ...more,
    retryStrategy: retryDelay,
    lazyConnect: true,
  });
  redis.on('reconnecting', () => Object.assign(redis.options, accessOptions(target)));
  pingWhileIdle(redis);
  redis.connect().catch(() => {});
  return redis;
}

/** Calls `leave` with the address of another master that this Sentinel names. */
function follow(
  host: RedisTarget['hosts'][number],
  target: RedisTarget,
  options: ConnectionOptions,
  leave: (master: string) => void,
  logger: Logger,
): Redis {
  const credentials = () => {
    const { sentinelUsername: username, sentinelPassword: password, authority } = target.credentials();
    return { username, password, authority, sentinelUsername: undefined, sentinelPassword: undefined };
  };
  const sentinel = connect({ ...target, credentials }, options, {
    ...host,
    enableReadyCheck: false,
    autoResubscribe: false,
  });
  let [known, lost] = ['', false];
  const failed = (error: unknown) => {
    if (!lost) outsideRequests(() => logger.warn('Sentinel cannot be followed', describeError(error)));
    lost = true;
  };
  sentinel.on('error', failed);
  sentinel.on('message', (_channel, message: string) => {
    const [name, , , ...address] = message.split(' ');
    if (name !== target.sentinelMaster) return;
    known = address.join(':');
    leave(known);
  });
  sentinel.on('ready', async () => {
    try {
      // What changed before the subscription is in the answer.
      const [found] = await Promise.all([
        sentinel.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', target.sentinelMaster ?? ''),
        sentinel.subscribe('+switch-master'),
      ]);
      lost = false;
      const before = known;
      if (Array.isArray(found)) known = found.join(':');
      if (before !== '' && before !== known) leave(known);
    } catch (error) {
      failed(error);
    }
  });
  return sentinel;
}
