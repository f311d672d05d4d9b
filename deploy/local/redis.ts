// Redis as a database: every write on disk before it is answered, nothing evicted. It listens on 127.0.0.1 only and asks
// for a password. The server is on PATH, in Docker, or Debian's package in the cache: no root, nothing registered.
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { Redis } from 'ioredis';
import { unpackDebianPackages, unpackedEnvironment } from './debian-package.ts';
import { whileAlone } from './exclusive.ts';
import type { StorePlan } from './plan.ts';
import type { Component } from './processes.ts';
import { cacheDirectory } from './run-directory.ts';

export async function redisComponent({ run, ports, secrets }: StorePlan): Promise<Component> {
  const directory = join(run.data, 'redis');
  const { redis: port } = ports;
  const server = await findRedis(cacheDirectory());
  const inContainer = server === 'docker';
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const configuration = join(directory, 'redis.conf');
  const lines = [
    `bind ${inContainer ? '0.0.0.0' : '127.0.0.1'}`,
    `port ${inContainer ? 6379 : port}`,
    `dir ${inContainer ? '/data' : JSON.stringify(directory)}`,
    `requirepass ${secrets.redis}`,
    `user ${identityUser(secrets.redisIdentity)}`,
    ...durable,
  ];
  writeFileSync(configuration, lines.map((line) => `${line}\n`).join(''), { mode: 0o600 });
  return {
    program: {
      name: 'redis',
      directory,
      logFile: join(run.logs, 'redis.log'),
      stopSignal: 'SIGTERM',
      rank: 2,
      ...(inContainer
        ? container(directory, port)
        : {
            command: server.command,
            arguments: [configuration],
            environment: { LC_ALL: 'C', ...server.environment },
          }),
    },
    address: `127.0.0.1:${port}`,
    problem: () => problemAt(redisUrl(port, secrets.redis)),
  };
}

/** What makes a server a database (decision 0010). */
export const durable = [
  'appendonly yes',
  'appendfsync always',
  'save ""',
  'maxmemory-policy noeviction',
  'maxmemory 1gb',
];

/** Identity's rights on keys and commands, a line each: docs/settings.md shows them. */
export const identityRules = [
  'resetkeys ~code:* ~rt:* ~interaction:* ~session:* ~login-* ~health:*',
  'resetchannels -@all +@connection +@read +@write +evalsha +eval +wait +info +config|get -@dangerous +info +config|get',
];

/** Words after `user` in a configuration or an ACL file. */
export function identityUser(password: string): string {
  return `identity on >${password} ${identityRules.join(' ')}`;
}

function container(directory: string, port: number) {
  const name = `course-exchange-redis-${port}`;
  // A container outlives the client that was killed.
  spawnSync('docker', ['rm', '--force', name], { stdio: 'ignore', timeout: 10_000 });
  const user = `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`;
  const where = ['--volume', `${directory}:/data`, '--publish', `127.0.0.1:${port}:6379`, '--user', user];
  return {
    command: 'docker',
    arguments: ['run', '--rm', '--name', name, ...where, image, 'redis-server', '/data/redis.conf'],
    environment: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '/' },
  };
}

/** The default user is the administrator. */
export function redisUrl(port: number, password: string, user = ''): string {
  return `redis://${user}:${password}@127.0.0.1:${port}`;
}

/** A server that still reads its data does not answer. */
async function problemAt(url: string): Promise<string | undefined> {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null, commandTimeout: 1_000 });
  redis.on('error', () => {});
  try {
    await redis.connect();
    await redis.ping();
    return undefined;
  } catch {
    return 'It does not answer.';
  } finally {
    redis.disconnect();
  }
}

type RedisServer =
  | { readonly command: string; readonly environment?: Readonly<Record<string, string>> }
  | 'docker';

const image = 'redis:7-alpine';

/** Rejects with one sentence that says what was tried. `cache` is a directory that may be made. */
export async function findRedis(cache: string, docker = true): Promise<RedisServer> {
  const found =
    onPath() ??
    (docker ? inDocker() : undefined) ??
    inCache(cache) ??
    (await whileAlone(async () => inCache(cache) ?? unpackDebianRedis(cache)));
  if (found) return found;
  throw new Error(
    'No Redis server was found: there is no redis-server or valkey-server on PATH, no Docker engine with an ' +
      'image answers, and the Debian package could not be fetched. Install Redis 7 or newer (or Docker), then start again.',
  );
}

function onPath(): RedisServer | undefined {
  const directories = (process.env.PATH ?? '').split(delimiter).filter((path) => path.startsWith('/'));
  const command = ['redis-server', 'valkey-server']
    .flatMap((name) => directories.map((directory) => join(directory, name)))
    .find((candidate) => isServer(candidate));
  return command === undefined ? undefined : { command };
}

function isServer(command: string, env: Readonly<Record<string, string>> = {}): boolean {
  const { stdout } = spawnSync(command, ['--version'], { encoding: 'utf8', timeout: 5_000, env });
  return Number(/server v=(\d+)/.exec(stdout ?? '')?.[1]) >= 7;
}

function inDocker(): RedisServer | undefined {
  const docker = (words: readonly string[], timeout: number) =>
    spawnSync('docker', words, { stdio: 'ignore', timeout }).status === 0;
  if (!docker(['info', '--format', '{{.ServerVersion}}'], 5_000)) return undefined;
  const isThere = docker(['image', 'inspect', image], 5_000) || docker(['pull', '--quiet', image], 120_000);
  return isThere ? 'docker' : undefined;
}

function inCache(cache: string): RedisServer | undefined {
  const home = join(cache, 'debian-redis');
  const command = join(home, 'usr/bin/redis-server');
  const environment = unpackedEnvironment(home);
  return isServer(command, environment) ? { command, environment } : undefined;
}

async function unpackDebianRedis(cache: string): Promise<RedisServer | undefined> {
  // Redis' programs are one file that looks at its own name.
  const prepare = (folder: string) => {
    const server = join(folder, 'usr/bin/redis-server');
    rmSync(server, { force: true });
    symlinkSync('redis-check-aof', server);
  };
  const packages = ['redis-tools'];
  await unpackDebianPackages(join(cache, 'debian-redis'), { packages, withDependencies: true, prepare });
  return inCache(cache);
}
