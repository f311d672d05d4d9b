// Keys `session:<hash>`: browser sessions under the SHA-256 of their cookie (R29). The key's time to live
// slides with each use and never passes the absolute end.
import type { RedisStore } from '@course-exchange/runtime/redis';
import { type BrowserSession, sessionTimeLeft } from '../../domain/browser-session.ts';
import type { Sub } from '../../domain/ids.ts';
import { hashSecret, secretPattern } from '../../domain/secrets.ts';
import { runScript, script } from './script.ts';

function keyOf(cookie: string): string {
  return `session:${hashSecret(cookie)}`;
}

const create = script(`
redis.call('HSET', KEYS[1], 'sub', ARGV[1], 'auth_time', ARGV[2], 'last_used', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1`);

/** Keeps `session` under the hash of `cookie`, a fresh random secret. Atomic. */
export async function createSession(
  store: RedisStore,
  cookie: string,
  session: BrowserSession,
): Promise<void> {
  const { sub, authTime, lastUsed } = session;
  const timeLeft = sessionTimeLeft(session, lastUsed);
  const key = keyOf(cookie);
  await store.run('create session', key, (redis) =>
    runScript(redis, create, [key], [sub, authTime, lastUsed, timeLeft]),
  );
}

/** The session of `cookie` when it lives at `now`. Reading is no use: the session's end does not move. */
export async function findSession(
  store: RedisStore,
  cookie: string,
  now: number,
): Promise<BrowserSession | undefined> {
  if (!secretPattern.test(cookie)) return undefined;
  const key = keyOf(cookie);
  const fields = await store.run('find session', key, (redis) => redis.hgetall(key));
  if (!fields.sub) return undefined;
  const session = {
    sub: fields.sub as Sub,
    authTime: Number(fields.auth_time),
    lastUsed: Number(fields.last_used),
  };
  return sessionTimeLeft(session, now) > 0 ? session : undefined;
}

// A session that ended meanwhile must not come back: without the look, HSET would make a new key.
const touch = script(`
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('HSET', KEYS[1], 'last_used', ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1`);

/** Records a use of `session` at `now`. False when it ended meanwhile. Atomic. */
export async function touchSession(
  store: RedisStore,
  cookie: string,
  session: BrowserSession,
  now: number,
): Promise<boolean> {
  const timeLeft = sessionTimeLeft({ ...session, lastUsed: now }, now);
  const key = keyOf(cookie);
  const touched = await store.run('touch session', key, (redis) =>
    runScript(redis, touch, [key], [now, timeLeft]),
  );
  return touched === 1;
}

/** Ends the session of `cookie`. One that is not there is no error. */
export async function endSession(store: RedisStore, cookie: string): Promise<void> {
  if (!secretPattern.test(cookie)) return;
  const key = keyOf(cookie);
  await store.run('end session', key, (redis) => redis.del(key));
}
