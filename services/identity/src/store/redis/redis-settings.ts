// Whether Redis is set up as a database that loses no token (platform facts).
import type { RedisStore } from '@course-exchange/runtime/redis';

const wanted = { 'maxmemory-policy': 'noeviction', appendonly: 'yes', appendfsync: 'always' } as const;

/**
 * One sentence that names every setting which differs; undefined when none does, or when CONFIG is not
 * permitted and nothing can be said.
 */
export async function readSettingsWarning({ redis }: RedisStore): Promise<string | undefined> {
  const reply = await redis.config('GET', ...Object.keys(wanted)).catch(() => undefined);
  if (!Array.isArray(reply)) return undefined;
  const found = new Map<unknown, unknown>();
  for (let i = 0; i < reply.length; i += 2) found.set(reply[i], reply[i + 1]);
  const wrong = Object.entries(wanted).filter(
    ([name, value]) => found.has(name) && found.get(name) !== value,
  );
  if (wrong.length === 0) return undefined;
  const list = wrong.map(([name, value]) => `${name} is ${String(found.get(name))}, expected ${value}`);
  return `Redis may lose or bring back tokens: ${list.join('; ')}`;
}
