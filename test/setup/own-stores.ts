// vitest's setupFile for tests on real stores: tells each worker where its own are, and looks after each file whether
// docs/redis-keys.md names type, life and fields of every key that the code has left there.
import { Redis } from 'ioredis';
import { afterAll, expect } from 'vitest';
import { documentedRedisKeys } from '../docs/documents.ts';

const own = JSON.parse(process.env.TEST_STORES ?? '')[Number(process.env.VITEST_POOL_ID) - 1];
process.env.TEST_POSTGRES_URL = own.postgresUrl;
process.env.TEST_REDIS_URL = own.redisUrl;

const documented = documentedRedisKeys();

afterAll(async () => {
  const redis = new Redis(own.redisUrl);
  for (const key of await redis.keys('*')) {
    const row = documented.find(({ pattern }) => pattern.test(key));
    const [type, seconds] = [await redis.type(key), await redis.ttl(key)];
    if (type === 'none') continue;
    expect([key, type]).toEqual([expect.stringMatching(row?.pattern ?? 'a documented key'), row?.type]);
    expect(seconds !== -1 && seconds <= (row?.seconds ?? 0), `${key} lives ${seconds} s`).toBe(true);
    expect(
      (await fieldsOf(redis, key, type)).filter((field) => !row?.fields.has(field)),
      key,
    ).toEqual([]);
  }
  // Counters of one file's networks would refuse the logins of the next.
  await redis.flushall();
  redis.disconnect();
});

/** Fields of a hash, or of the JSON in a string; other strings are one word. */
async function fieldsOf(redis: Redis, key: string, type: string): Promise<readonly string[]> {
  if (type === 'hash') return redis.hkeys(key);
  const text = type === 'string' ? await redis.get(key) : null;
  return text?.startsWith('{') ? Object.keys(JSON.parse(text)) : [];
}
