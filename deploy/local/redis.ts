// Redis as a database: every write on disk before it is answered, nothing evicted. It listens at 127.0.0.1 alone and asks
// for a password.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import type { Component } from './component.ts';
import type { StorePlan } from './plan.ts';
import { findRedis } from './redis-program.ts';
import { cacheDirectory } from './run-directory.ts';

export async function redisComponent({ run, ports, secrets }: StorePlan): Promise<Component> {
  const directory = join(run.data, 'redis');
  const { redis: port } = ports;
  const server = await findRedis(cacheDirectory());
  const inContainer = server.kind === 'docker';
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
      ...(server.kind === 'docker'
        ? container(server.image, directory, port)
        : {
            command: server.command,
            arguments: [configuration],
            environment: { LC_ALL: 'C', LD_LIBRARY_PATH: server.libraries ?? '' },
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

function container(image: string, directory: string, port: number) {
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
