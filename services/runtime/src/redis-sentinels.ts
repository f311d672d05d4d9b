// What the Sentinels say of the master, heard while the connection to it still stands: a master that hung and woke up,
// or that the Sentinels alone cannot reach, would go on answering with what it knew.
import { Redis } from 'ioredis';
import type { RedisHost } from './redis-address.ts';
import {
  accessOptions,
  askWhileIdle,
  type ConnectionOptions,
  retryDelay,
  safeOptions,
} from './redis-connection.ts';
import type { RedisCredentials, RedisPlace } from './redis-settings.ts';

interface FollowOptions extends ConnectionOptions {
  /** A Sentinel names another master than before. Each tells it by itself, and some later than others. */
  readonly changed: () => void;
  /** Told once, until that Sentinel can be followed. */
  readonly unfollowed: (error: Error) => void;
}

/** Returns what ends it. */
export function followSentinels(place: RedisPlace, options: FollowOptions): () => void {
  const theirs = { ...place, credentials: () => loginOfSentinels(place) };
  const sentinels = place.hosts.map((host) => connectSentinel(host, theirs, options));
  for (const sentinel of sentinels) listen(sentinel, place, options);
  return () => {
    for (const sentinel of sentinels) sentinel.disconnect();
  };
}

function connectSentinel({ host, port }: RedisHost, place: RedisPlace, options: ConnectionOptions): Redis {
  const sentinel = new Redis({
    ...safeOptions(place, options),
    host,
    port: port ?? 26379,
    retryStrategy: retryDelay,
    enableReadyCheck: false,
    autoResubscribe: false,
    lazyConnect: true,
  });
  sentinel.on('reconnecting', () => Object.assign(sentinel.options, accessOptions(place)));
  askWhileIdle(sentinel);
  return sentinel;
}

function loginOfSentinels(place: RedisPlace): RedisCredentials {
  const { sentinelUsername, sentinelPassword, ...rest } = place.credentials();
  return {
    ...rest,
    username: sentinelUsername,
    password: sentinelPassword,
    sentinelUsername: undefined,
    sentinelPassword: undefined,
  };
}

function listen(sentinel: Redis, place: RedisPlace, { changed, unfollowed }: FollowOptions): void {
  let [known, told] = ['', false];
  const failed = (error: Error) => {
    if (!told) unfollowed(error);
    told = true;
  };
  sentinel.on('error', failed);
  sentinel.on('message', (_channel, message: string) => {
    const [name, , , host, port] = message.split(' ');
    if (name !== place.sentinelMaster) return;
    known = `${host}:${port}`;
    changed();
  });
  sentinel.on('ready', async () => {
    try {
      // Both at once: what changed while nobody listened is in the answer, what changes from now on is told.
      const [found] = await Promise.all([
        sentinel.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', place.sentinelMaster ?? ''),
        sentinel.subscribe('+switch-master'),
      ]);
      told = false;
      const before = known;
      if (Array.isArray(found)) known = found.join(':');
      if (before !== '' && before !== known) changed();
    } catch (error) {
      failed(error as Error);
    }
  });
  sentinel.connect().catch(() => {});
}
