// vitest's setupFile for tests on real stores: tells each worker where its own are, and looks after each file whether
// docs/redis-keys.md names every key that the code has left there.
import { Redis } from 'ioredis';
import { afterAll, expect, inject } from 'vitest';
import { documentedRedisKeys } from '../docs/documents.ts';

const own = inject('stores')[Number(process.env.VITEST_POOL_ID) - 1];
if (!own) throw new Error(`There are no stores for worker ${process.env.VITEST_POOL_ID}.`);
process.env.TEST_POSTGRES_URL = own.postgresUrl;
process.env.TEST_REDIS_URL = own.redisUrl;

afterAll(async () => {
  const redis = new Redis(own.redisUrl);
  const keys = await redis.keys('*');
  // Counters of one file's networks would refuse the logins of the next.
  await redis.flushall();
  redis.disconnect();
  const named = documentedRedisKeys();
  expect(keys.filter((key) => !named.some(({ pattern }) => pattern.test(key)))).toEqual([]);
});
