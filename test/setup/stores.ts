// vitest's globalSetup for tests on real stores: starts a Postgres and a Redis for each worker, so that files that change
// roles or settings of a server run beside one another, and ends them.
import type { TestProject } from 'vitest/node';
import { startStores, type TestStores } from '../support/stores.ts';

type Addresses = Pick<TestStores, 'postgresUrl' | 'redisUrl'>;

declare module 'vitest' {
  interface ProvidedContext {
    /** One pair for each worker. */
    stores: readonly Addresses[];
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const pairs = await Promise.all(Array.from({ length: project.config.maxWorkers }, startStores));
  project.provide(
    'stores',
    pairs.map(({ postgresUrl, redisUrl }) => ({ postgresUrl, redisUrl })),
  );
  return async () => {
    await Promise.all(pairs.map(({ stop }) => stop()));
  };
}
