// Throwaway Postgres and Redis for tests, on free ports and in a directory of their own. They end with the
// process that started them, whatever ends it.
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { cacheDirectory } from '@course-exchange/local-stack/cache';
import {
  postgresAnswers,
  postgresUrl,
  preparePostgres,
} from '@course-exchange/local-stack/embedded-postgres';
import { prepareRedis, redisAnswers, redisUrl } from '@course-exchange/local-stack/embedded-redis';
import { choosePorts } from '@course-exchange/local-stack/free-ports';
import { openProcesses, type RunningProgram } from '@course-exchange/local-stack/processes';
import { findRedis } from '@course-exchange/local-stack/redis-program';

export interface TestStores {
  /** Superuser's address of the database `postgres`. */
  readonly postgresUrl: string;
  readonly redisUrl: string;
  /** For faults: SIGSTOP, SIGCONT and SIGKILL may be sent to these. */
  readonly processes: { readonly postgres: RunningProgram; readonly redis: RunningProgram };
  /** Ends both and deletes their data. */
  readonly stop: () => Promise<void>;
}

export async function startStores(): Promise<TestStores> {
  const home = mkdtempSync(join(tmpdir(), 'course-exchange-stores-'));
  const otherHome = join('/var/tmp', basename(home));
  // User `postgres` passes through it to its data when the tests run as root.
  chmodSync(home, 0o711);
  const processes = openProcesses();
  for (const directory of [home, otherHome]) processes.throwAway(directory);
  const stop = () => processes.stopAll(5_000);
  try {
    return { ...(await startBoth(home, otherHome, processes)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startBoth(
  home: string,
  otherHome: string,
  processes: ReturnType<typeof openProcesses>,
): Promise<Omit<TestStores, 'stop'>> {
  const ports = await choosePorts(['postgres', 'redis']);
  const password = randomBytes(16).toString('hex');
  const logFiles = { postgres: join(home, 'postgres.log'), redis: join(home, 'redis.log') };
  const postgres = processes.start(
    await preparePostgres({
      directory: join(home, 'postgres'),
      otherDirectory: otherHome,
      port: ports.postgres,
      password,
      logFile: logFiles.postgres,
      throwaway: true,
    }),
  );
  const redis = processes.start(
    prepareRedis({
      server: await findRedis(cacheDirectory()),
      directory: join(home, 'redis'),
      port: ports.redis,
      password,
      logFile: logFiles.redis,
    }),
  );
  const urls = {
    postgresUrl: postgresUrl(ports.postgres, 'postgres', password, 'postgres'),
    redisUrl: redisUrl(ports.redis, password),
  };
  const [postgresUp, redisUp] = await Promise.all([
    postgresAnswers(urls.postgresUrl, 20_000),
    redisAnswers(urls.redisUrl, 20_000),
  ]);
  if (!postgresUp) throw new Error(`Postgres did not start:\n${readFileSync(logFiles.postgres, 'utf8')}`);
  if (!redisUp) throw new Error(`Redis did not start:\n${readFileSync(logFiles.redis, 'utf8')}`);
  return { ...urls, processes: { postgres, redis } };
}
