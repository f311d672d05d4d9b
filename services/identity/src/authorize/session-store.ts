// Keys `session:<hash>`: browser sessions under the SHA-256 of their cookie (R29.8).
import type { Sub } from '../ids.ts';
import type { RedisStore } from '../redis/connect.ts';
import { runScript, script } from '../redis/script.ts';
import { hashSecret, secretPattern } from '../secrets.ts';

const sessionIdleMs = 60 * 60 * 1000;
const sessionAbsoluteMs = 8 * 60 * 60 * 1000;

/** Times in milliseconds since the epoch. */
export interface BrowserSession {
  readonly sub: Sub;
  readonly authTime: number;
  readonly lastUsed: number;
}

/** Milliseconds left without use after `now`; 0 when it is over. */
function sessionTimeLeft({ authTime, lastUsed }: BrowserSession, now: number): number {
  return Math.max(0, Math.min(lastUsed + sessionIdleMs, authTime + sessionAbsoluteMs) - now);
}

function keyOf(cookie: string): string {
  return `session:${hashSecret(cookie)}`;
}

const create = script(`
redis.call('HSET', KEYS[1], 'sub', ARGV[1], 'auth_time', ARGV[2], 'last_used', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1`);

/** `cookie`: a fresh random secret. Atomic. */
export async function createSession(
  store: RedisStore,
  cookie: string,
  session: BrowserSession,
): Promise<void> {
  const { sub, authTime, lastUsed } = session;
  const values = [sub, authTime, lastUsed, sessionTimeLeft(session, lastUsed)];
  await runScript(store, 'create session', create, [keyOf(cookie)], values);
}

/** Does not prolong the session. */
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

// HSET would recreate a session that ended meanwhile.
const touch = script(`
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('HSET', KEYS[1], 'last_used', ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1`);

/** False when the session ended meanwhile. Atomic. */
export async function touchSession(
  store: RedisStore,
  cookie: string,
  session: BrowserSession,
  now: number,
): Promise<boolean> {
  const values = [now, sessionTimeLeft({ ...session, lastUsed: now }, now)];
  return (await runScript(store, 'touch session', touch, [keyOf(cookie)], values)) === 1;
}

const end = script(`
local sub = redis.call('HGET', KEYS[1], 'sub')
redis.call('DEL', KEYS[1])
return sub`);

/** Atomic. */
export async function endSession(store: RedisStore, cookie: string): Promise<Sub | undefined> {
  if (!secretPattern.test(cookie)) return undefined;
  const sub = (await runScript(store, 'end session', end, [keyOf(cookie)], [])) as Sub | null;
  return sub ?? undefined;
}
