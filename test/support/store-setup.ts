// vitest's globalSetup for tests on real stores: starts both once, tells the tests where, ends them.
import { startStores } from './stores.ts';

export async function setup(): Promise<() => Promise<void>> {
  if (process.env.TEST_POSTGRES_URL && process.env.TEST_REDIS_URL) return async () => {};
  const stores = await startStores();
  process.env.TEST_POSTGRES_URL = stores.postgresUrl;
  process.env.TEST_REDIS_URL = stores.redisUrl;
  return stores.stop;
}
