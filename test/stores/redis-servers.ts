// Redis servers and Sentinels of a test's own, at 127.0.0.1, that can be killed and started again on their data.
import { appendFileSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bringUp, type Component, openProcesses } from '@course-exchange/local-stack/processes';
import { durable, findRedis, identityUser } from '@course-exchange/local-stack/redis';
import { cacheDirectory } from '@course-exchange/local-stack/run-directory';
import { createLogger } from '@course-exchange/runtime/process/logger';
import { readSettings } from '@course-exchange/runtime/process/settings';
import { Redis } from 'ioredis';
import { connectRedis, type RedisStore } from '../../services/identity/src/redis/connect.ts';
import { redisSettings, redisTarget } from '../../services/identity/src/redis/settings.ts';
import { section } from '../docs/documents.ts';
import { ownStopwatch } from '../support/own-time.ts';

/** Lines of a server at `port` that keeps what it acknowledged. */
export const durableAt = (port: number) => [...durable, `port ${port}`, 'repl-diskless-sync-delay 0'];

/** Connects as one process of several, with these settings; by default tokens wait for a replica, and a command has a second. */
export async function openStore(
  source: Readonly<Record<string, string>>,
  onLine: (line: string) => void = () => {},
  commandTimeoutMs = 1_000,
  minReplicas = 1,
): Promise<RedisStore> {
  const logger = createLogger('test', 'info', onLine);
  const target = redisTarget(readSettings(redisSettings, source), source);
  const store = connectRedis({ target, connectionName: 'test', commandTimeoutMs, minReplicas, logger });
  await store.ready();
  return store;
}

/** The server of a store that has one, to look at it. */
export function serverOf(store: RedisStore | undefined): Redis {
  const [server] = store?.masters() ?? [];
  if (server === undefined) throw new Error('no server');
  return server;
}

interface ServerOptions {
  readonly name: string;
  /** Lines of its configuration. It rewrites the file, as Sentinel and Cluster do. */
  readonly lines: readonly string[];
  readonly sentinel?: boolean;
  readonly look: {
    readonly port: number;
    readonly password: string;
    readonly tls?: { readonly ca: string } | { readonly rejectUnauthorized: false };
  };
}

export type TestServer = Awaited<ReturnType<Awaited<ReturnType<typeof openServers>>['start']>>;

/** A container cannot be told apart on a port of its own: these tests want the program. */
export async function openServers() {
  const program = await findRedis(cacheDirectory(), false);
  if (program === 'docker') throw new Error('There is no redis-server on PATH.');
  const directory = mkdtempSync(join(tmpdir(), 'course-exchange-redis-'));
  const processes = openProcesses(join(directory, 'processes.json'), [directory]);
  const admins: Redis[] = [];
  return {
    directory,
    start: async ({ name, lines, sentinel, look }: ServerOptions) => {
      const home = join(directory, name);
      const configuration = join(home, 'redis.conf');
      const write = (more: readonly string[]) => appendFileSync(configuration, `${more.join('\n')}\n`);
      mkdirSync(home);
      write(['bind 127.0.0.1', `dir ${home}`, ...lines]);
      const admin = new Redis({ ...look, host: '127.0.0.1', retryStrategy: () => 50 });
      admin.on('error', () => {});
      admins.push(admin);
      const component: Component = {
        program: {
          name,
          command: program.command,
          arguments: [configuration, ...(sentinel ? ['--sentinel'] : [])],
          environment: { LC_ALL: 'C', LD_LIBRARY_PATH: program.libraries ?? '' },
          directory: home,
          logFile: join(home, 'log'),
          stopSignal: 'SIGKILL',
          rank: 1,
        },
        address: `127.0.0.1:${look.port}`,
        problem: () =>
          admin.ping().then(
            () => undefined,
            () => 'Redis did not start.',
          ),
      };
      let { running } = await bringUp(processes, component, 60_000);
      return {
        admin,
        pid: () => running.pid,
        kill: (signal: NodeJS.Signals): unknown => process.kill(running.pid, signal),
        /** Starts it again on its data, after `kill('SIGKILL')`. */
        restart: async (extraLines: readonly string[] = []) => {
          await running.exited;
          write(extraLines);
          running = (await bringUp(processes, component, 60_000)).running;
        },
      };
    },
    stop: async () => {
      for (const admin of admins) admin.disconnect();
      await processes.stopAll(1_000);
    },
  };
}

/** Replicas that have acknowledged something in the last second: one that is frozen stays online for a minute. */
export async function hasReplicas(admin: Redis, count = 1): Promise<boolean> {
  const online = (await admin.info('replication')).match(/^slave\d:.*state=online.*lag=[01]\b/gm) ?? [];
  return online.length >= count;
}

const had = ownStopwatch();

/** Resolves when `holds` does; throws after `timeoutMs` milliseconds that this process had. */
export async function until(
  what: string,
  holds: () => Promise<boolean> | boolean,
  timeoutMs = 90_000,
): Promise<void> {
  for (const end = had() + timeoutMs; had() < end; await sleep(50))
    if (await Promise.resolve(holds()).catch(() => false)) return;
  throw new Error(`${what}: not within ${timeoutMs} ms`);
}

const page = () => section('docs/settings.md', '## How identity reaches Redis');

/** The ACL user that docs/settings.md shows to operators: words of ACL SETUSER, the name, then the rules. */
export const documentedUser = (password: string) => identityUser(password).split(' ');

export function documentedSentinelUser(password: string): string[] {
  const [indented = ''] = /(?:^ {4}.*\n?)+/m.exec(page()) ?? [];
  return indented.replace('>password', `>${password}`).trim().split(/\s+/).slice(2);
}

export function documentedClusterUser(password: string): string[] {
  const [, more = ''] = /in a Cluster also `([^`]*)`/.exec(page()) ?? [];
  return [...documentedUser(password), ...more.split(/\s+/)];
}
