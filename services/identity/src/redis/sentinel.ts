// The connection to the one server, or to the master that the Sentinels name; made again in the background. What the
// Sentinels say of the master is heard while the connection to it is still there: a master that hung and woke up, or
// that the Sentinels alone cannot reach, would keep answering with stale data.
import { Redis } from 'ioredis';
import { accessOptions, type ConnectionOptions, pingWhileIdle, retryDelay, safeOptions } from './options.ts';
import type { RedisCredentials, RedisHost, RedisTarget } from './settings.ts';

export interface MasterOptions extends ConnectionOptions {
  /** A Sentinel cannot be followed: called once, until it can. */
  readonly onSentinelLost: (error: Error) => void;
}

export interface Master {
  readonly redis: Redis;
  readonly close: () => void;
}

export function connectMaster(target: RedisTarget, options: MasterOptions): Master {
  const redis = new Redis({
    ...safeOptions(target, options),
    ...endpoints(target),
    sentinelCommandTimeout: 1_000,
    // Undefined would give up for good.
    sentinelRetryStrategy: (times) => {
      readAgain();
      return retryDelay(times);
    },
    db: target.database,
    retryStrategy: retryDelay,
    lazyConnect: true,
  });
  // ioredis reads its options at each try.
  const readAgain = () => Object.assign(redis.options, accessOptions(target));
  redis.on('reconnecting', readAgain);
  pingWhileIdle(redis);
  redis.connect().catch(() => {});
  const unfollow = target.sentinelMaster === undefined ? () => {} : follow(redis, target, options);
  return {
    redis,
    close: () => {
      unfollow();
      redis.disconnect();
    },
  };
}

/** Leaves an open connection when a Sentinel names another master; one in the making, once it is open. */
function follow(redis: Redis, target: RedisTarget, options: MasterOptions): () => void {
  let stale = false;
  const leave = () => {
    stale = redis.status !== 'ready';
    if (!stale) redis.stream.destroy();
  };
  redis.on('ready', () => {
    if (stale) leave();
  });
  return followSentinels(target, { ...options, changed: leave });
}

/** The server itself, or the Sentinels that name it. */
export function endpoints({ hosts, sentinelMaster }: RedisTarget) {
  if (sentinelMaster === undefined) return { ...hosts[0] };
  return { name: sentinelMaster, sentinels: [...hosts] };
}

interface FollowOptions extends MasterOptions {
  /** A Sentinel names another master than before. Each announces it by itself, and some later than others. */
  readonly changed: () => void;
}

/** Returns what ends it. */
function followSentinels(target: RedisTarget, options: FollowOptions): () => void {
  const asSentinel = { ...target, credentials: () => credentialsOfSentinels(target) };
  const sentinels = target.hosts.map((host) => connectSentinel(host, asSentinel, options));
  for (const sentinel of sentinels) listen(sentinel, target, options);
  return () => {
    for (const sentinel of sentinels) sentinel.disconnect();
  };
}

function connectSentinel(host: RedisHost, target: RedisTarget, options: ConnectionOptions): Redis {
  const sentinel = new Redis({
    ...safeOptions(target, options),
    ...host,
    retryStrategy: retryDelay,
    enableReadyCheck: false,
    autoResubscribe: false,
    lazyConnect: true,
  });
  sentinel.on('reconnecting', () => Object.assign(sentinel.options, accessOptions(target)));
  pingWhileIdle(sentinel);
  return sentinel;
}

function credentialsOfSentinels(target: RedisTarget): RedisCredentials {
  const { sentinelUsername: username, sentinelPassword: password, authority } = target.credentials();
  return { username, password, authority, sentinelUsername: undefined, sentinelPassword: undefined };
}

function listen(sentinel: Redis, target: RedisTarget, { changed, onSentinelLost }: FollowOptions): void {
  let [known, lost] = ['', false];
  const failed = (error: Error) => {
    if (!lost) onSentinelLost(error);
    lost = true;
  };
  sentinel.on('error', failed);
  sentinel.on('message', (_channel, message: string) => {
    const [name, , , host, port] = message.split(' ');
    if (name !== target.sentinelMaster) return;
    known = `${host}:${port}`;
    changed();
  });
  sentinel.on('ready', async () => {
    try {
      // Both at once: what changed while nobody listened is in the answer, what changes from now on is announced.
      const [found] = await Promise.all([
        sentinel.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', target.sentinelMaster ?? ''),
        sentinel.subscribe('+switch-master'),
      ]);
      lost = false;
      const before = known;
      if (Array.isArray(found)) known = found.join(':');
      if (before !== '' && before !== known) changed();
    } catch (error) {
      failed(error as Error);
    }
  });
  sentinel.connect().catch(() => {});
}
