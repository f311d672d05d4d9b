// Finds a Redis server: on PATH, else in Docker, else Debian's package unpacked into the cache.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { unpackDebianRedis } from './debian-redis.ts';
import { isServer, type RedisServer, underServersName } from './redis-server.ts';

const images = ['redis:7-alpine', 'valkey/valkey:8-alpine'];

/** Rejects with one sentence that says what was tried. `cache` is a directory that may be made. */
export async function findRedis(
  cache: string,
  path: string = process.env.PATH ?? '',
  docker = true,
): Promise<RedisServer> {
  const found = onPath(path, cache) ?? (docker ? inDocker() : undefined) ?? (await unpackDebianRedis(cache));
  if (found) return found;
  throw new Error(
    'No Redis server was found: there is no redis-server or valkey-server on PATH, no Docker engine with an ' +
      'image answers, and the Debian package could not be fetched. Install Redis 7 or newer (or Docker), then start again.',
  );
}

function onPath(path: string, cache: string): RedisServer | undefined {
  const directories = path.split(delimiter).filter((directory) => directory.startsWith('/'));
  for (const name of ['redis-server', 'valkey-server']) {
    for (const directory of directories) {
      const command = join(directory, name);
      if (existsSync(command) && isServer(command)) return { kind: 'program', command };
    }
  }
  for (const directory of directories) {
    const server = underServersName(join(directory, 'redis-check-aof'), join(cache, 'redis-on-path'));
    if (server) return { kind: 'program', command: server };
  }
  return undefined;
}

function inDocker(): RedisServer | undefined {
  const docker = (parameters: string[], timeout: number) =>
    spawnSync('docker', parameters, { stdio: 'ignore', timeout }).status === 0;
  if (!docker(['info', '--format', '{{.ServerVersion}}'], 5_000)) return undefined;
  const image =
    images.find((candidate) => docker(['image', 'inspect', candidate], 5_000)) ??
    images.find((candidate) => docker(['pull', '--quiet', candidate], 120_000));
  return image === undefined ? undefined : { kind: 'docker', image };
}
