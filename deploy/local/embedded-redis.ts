// Redis as a database: every write on disk before it is answered, nothing evicted. It listens at 127.0.0.1
// alone and asks for a password.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { Program } from './processes.ts';
import type { RedisServer } from './redis-server.ts';

export interface EmbeddedRedisOptions {
  readonly server: RedisServer;
  readonly directory: string;
  readonly port: number;
  readonly password: string;
  readonly logFile: string;
}

/** Writes the configuration and describes the server. */
export function prepareRedis(options: EmbeddedRedisOptions): Program {
  const { server, directory, port, password, logFile } = options;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const configuration = join(directory, 'redis.conf');
  const inContainer = server.kind === 'docker';
  const lines = [
    `bind ${inContainer ? '0.0.0.0' : '127.0.0.1'}`,
    `port ${inContainer ? 6379 : port}`,
    `dir ${inContainer ? '/data' : JSON.stringify(directory)}`,
    `requirepass ${password}`,
    'appendonly yes',
    'appendfsync always',
    'maxmemory-policy noeviction',
    'save ""',
  ];
  writeFileSync(configuration, `${lines.join('\n')}\n`, { mode: 0o600 });
  return {
    name: 'redis',
    ...(server.kind === 'docker' ? container(server.image, options) : program(server, configuration)),
    directory,
    logFile,
    stopSignal: 'SIGTERM',
    rank: 2,
  };
}

function program(
  server: Extract<RedisServer, { kind: 'program' }>,
  configuration: string,
): Pick<Program, 'command' | 'arguments' | 'environment'> {
  return {
    command: server.command,
    arguments: [configuration],
    environment: { LC_ALL: 'C', ...(server.libraries ? { LD_LIBRARY_PATH: server.libraries } : {}) },
  };
}

function container(
  image: string,
  { directory, port }: EmbeddedRedisOptions,
): Pick<Program, 'command' | 'arguments' | 'environment'> {
  const name = `course-exchange-redis-${port}`;
  // A container outlives the client that was killed.
  spawnSync('docker', ['rm', '--force', name], { stdio: 'ignore', timeout: 10_000 });
  const user = `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`;
  const where = ['--volume', `${directory}:/data`, '--publish', `127.0.0.1:${port}:6379`, '--user', user];
  return {
    command: 'docker',
    arguments: ['run', '--rm', '--name', name, ...where, image, serverName(image), '/data/redis.conf'],
    environment: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '/' },
  };
}

function serverName(image: string): string {
  return basename(image).startsWith('valkey') ? 'valkey-server' : 'redis-server';
}

/** Holds the password. */
export function redisUrl(port: number, password: string): string {
  return `redis://:${password}@127.0.0.1:${port}`;
}

/** Resolves when Redis answers and has read its data; false when it did not within `timeoutMs` milliseconds. */
export async function redisAnswers(url: string, timeoutMs: number): Promise<boolean> {
  const end = Date.now() + timeoutMs;
  do {
    const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null, commandTimeout: 1_000 });
    redis.on('error', () => {});
    try {
      await redis.connect();
      await redis.ping();
      return true;
    } catch {
      await sleep(50);
    } finally {
      redis.disconnect();
    }
  } while (Date.now() < end);
  return false;
}
