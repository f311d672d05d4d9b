// Redis servers and Sentinels of a test's own, at 127.0.0.1, that can be killed and started again on their data.
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cacheDirectory } from '@course-exchange/local-stack/cache';
import { openProcesses, type RunningProgram } from '@course-exchange/local-stack/processes';
import { findRedis } from '@course-exchange/local-stack/redis-program';
import { Redis } from 'ioredis';

export const durable = ['appendonly yes', 'appendfsync always', 'maxmemory-policy noeviction', 'save ""'];

interface ServerOptions {
  readonly name: string;
  /** Lines of its configuration. It rewrites the file, as Sentinel and Cluster do. */
  readonly lines: readonly string[];
  readonly sentinel?: boolean;
  /** How the test itself looks at it. */
  readonly look: {
    readonly port: number;
    readonly password: string;
    readonly tls?: { readonly ca: string; readonly servername?: string };
  };
}

export interface TestServer {
  readonly admin: Redis;
  readonly kill: (signal: NodeJS.Signals) => void;
  /** Starts it again on its data, after `kill('SIGKILL')`. */
  readonly restart: (extraLines?: readonly string[]) => Promise<void>;
}

export interface TestServers {
  readonly directory: string;
  readonly start: (options: ServerOptions) => Promise<TestServer>;
  readonly stop: () => Promise<void>;
}

/** A container cannot be told apart on a port of its own: these tests want the program. */
export async function openServers(): Promise<TestServers> {
  const program = await findRedis(cacheDirectory(), process.env.PATH, false);
  if (program.kind !== 'program') throw new Error('There is no redis-server on PATH.');
  const directory = mkdtempSync(join(tmpdir(), 'course-exchange-redis-'));
  const processes = openProcesses();
  processes.throwAway(directory);
  const admins: Redis[] = [];
  const libraries = program.libraries ? { LD_LIBRARY_PATH: program.libraries } : {};
  const launch = (home: string, { name, sentinel }: ServerOptions): RunningProgram =>
    processes.start({
      name,
      command: program.command,
      arguments: [join(home, 'redis.conf'), ...(sentinel ? ['--sentinel'] : [])],
      environment: { LC_ALL: 'C', ...libraries },
      directory: home,
      logFile: join(home, 'log'),
      stopSignal: 'SIGKILL',
      rank: 1,
    });
  return {
    directory,
    start: async (options) => {
      const home = join(directory, options.name);
      const configuration = join(home, 'redis.conf');
      mkdirSync(home);
      writeFileSync(configuration, lines(['bind 127.0.0.1', `dir ${home}`, ...options.lines]));
      let running = launch(home, options);
      const admin = new Redis({ ...options.look, host: '127.0.0.1', retryStrategy: () => 50 });
      admin.on('error', () => {});
      admins.push(admin);
      await answers(admin, join(home, 'log'));
      return {
        admin,
        kill: (signal) => process.kill(running.pid, signal),
        restart: async (extraLines = []) => {
          await running.exited;
          writeFileSync(configuration, readFileSync(configuration, 'utf8') + lines(extraLines));
          running = launch(home, options);
          await answers(admin, join(home, 'log'));
        },
      };
    },
    stop: async () => {
      for (const admin of admins) admin.disconnect();
      await processes.stopAll(1_000);
    },
  };
}

function lines(all: readonly string[]): string {
  return all.map((line) => `${line}\n`).join('');
}

async function answers(admin: Redis, log: string): Promise<void> {
  for (const end = Date.now() + 10_000; Date.now() < end; await sleep(50))
    if (await admin.ping().catch(() => undefined)) return;
  throw new Error(`Redis did not start:\n${readFileSync(log, 'utf8')}`);
}

/** Resolves when `holds` does; throws after `timeoutMs` milliseconds. */
export async function until(
  what: string,
  holds: () => Promise<boolean> | boolean,
  timeoutMs = 15_000,
): Promise<void> {
  for (const end = Date.now() + timeoutMs; Date.now() < end; await sleep(50))
    if (await Promise.resolve(holds()).catch(() => false)) return;
  throw new Error(`${what}: not within ${timeoutMs} ms`);
}
