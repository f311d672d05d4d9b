// vitest's globalSetup for tests on real stores: a Postgres and a Redis for each worker, so that files that change roles or
// settings of a server run beside one another. They end with the process that started them, whatever ends it.
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { choosePorts } from '@course-exchange/local-stack/free-ports';
import { postgresUrl } from '@course-exchange/local-stack/postgres';
import { bringUp, openProcesses } from '@course-exchange/local-stack/processes';
import { redisUrl } from '@course-exchange/local-stack/redis';
import { storeComponents } from '@course-exchange/local-stack/services';
import type { TestProject } from 'vitest/node';
import { allOrNone } from './stacks.ts';

export async function setup({ config }: TestProject): Promise<() => Promise<void>> {
  const pairs = await allOrNone(Array.from({ length: config.maxWorkers }, startStores));
  process.env.TEST_STORES = JSON.stringify(pairs);
  return async () => {
    await Promise.all(pairs.map(({ stop }) => stop()));
  };
}

async function startStores() {
  const home = mkdtempSync(join(tmpdir(), 'course-exchange-stores-'));
  const otherHome = join('/var/tmp', basename(home));
  // User `postgres` passes through it to its data when the tests run as root.
  chmodSync(home, 0o711);
  const processes = openProcesses(join(home, 'processes.json'), [home, otherHome]);
  const ports = await choosePorts(['postgres', 'redis']);
  const password = randomBytes(16).toString('hex');
  const stop = () => processes.stopAll(5_000);
  try {
    const stores = await storeComponents({
      run: { data: home, logs: home, otherPostgres: otherHome },
      ports,
      secrets: { postgresSuperuser: password, redis: password, redisIdentity: password },
      throwaway: true,
    });
    await Promise.all(stores.map((store) => bringUp(processes, store)));
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    /** Superuser's address of the database `postgres`. */
    postgresUrl: postgresUrl(ports.postgres, 'postgres', password, 'postgres'),
    /** Administrator's address; the user `identity` has the same password. */
    redisUrl: redisUrl(ports.redis, password),
    stop,
  };
}
