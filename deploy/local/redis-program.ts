// Finds a Redis server: on PATH, else in Docker, else Debian's package, unpacked into the cache: no root, and nothing
// registered with the system.
import { spawnSync } from 'node:child_process';
import { globSync, rmSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { unpackDebianPackage } from './debian-package.ts';

export type RedisServer =
  | { readonly kind: 'program'; readonly command: string; readonly libraries?: string }
  | { readonly kind: 'docker'; readonly image: string };

const image = 'redis:7-alpine';

/** Rejects with one sentence that says what was tried. `cache` is a directory that may be made. */
export async function findRedis(cache: string, docker = true): Promise<RedisServer> {
  const found =
    onPath() ?? (docker ? inDocker() : undefined) ?? inCache(cache) ?? (await unpackDebianRedis(cache));
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
  return command === undefined ? undefined : { kind: 'program', command };
}

function isServer(command: string, libraries?: string): boolean {
  const env = libraries === undefined ? {} : { LD_LIBRARY_PATH: libraries };
  const { stdout } = spawnSync(command, ['--version'], { encoding: 'utf8', timeout: 5_000, env });
  return Number(/server v=(\d+)/.exec(stdout ?? '')?.[1]) >= 7;
}

function inDocker(): RedisServer | undefined {
  const docker = (words: readonly string[], timeout: number) =>
    spawnSync('docker', words, { stdio: 'ignore', timeout }).status === 0;
  if (!docker(['info', '--format', '{{.ServerVersion}}'], 5_000)) return undefined;
  const isThere = docker(['image', 'inspect', image], 5_000) || docker(['pull', '--quiet', image], 120_000);
  return isThere ? { kind: 'docker', image } : undefined;
}

function inCache(cache: string): RedisServer | undefined {
  const home = join(cache, 'debian-redis');
  const command = join(home, 'usr/bin/redis-server');
  const libraries = globSync(join(home, 'usr/lib/*-linux-gnu*')).join(':');
  return isServer(command, libraries) ? { kind: 'program', command, libraries } : undefined;
}

async function unpackDebianRedis(cache: string): Promise<RedisServer | undefined> {
  // Redis' programs are one file that looks at its own name. The libraries are those that a small system lacks.
  const packages = ['redis-tools', 'libjemalloc2', 'liblzf1', 'libatomic1', 'libssl3'];
  await unpackDebianPackage(join(cache, 'debian-redis'), packages, (folder) => {
    const server = join(folder, 'usr/bin/redis-server');
    rmSync(server, { force: true });
    symlinkSync('redis-check-aof', server);
  });
  return inCache(cache);
}
