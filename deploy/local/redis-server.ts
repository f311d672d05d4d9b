// What a Redis server is: a program of version 7 or newer, or an image for a Docker engine.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

/** A server on this machine, or an image for a Docker engine. */
export type RedisServer =
  | { readonly kind: 'program'; readonly command: string; readonly libraries?: string }
  | { readonly kind: 'docker'; readonly image: string };

/**
 * Redis' programs are one file that looks at its own name. `file` under the server's name in `directory`;
 * undefined when it is not such a file.
 */
export function underServersName(file: string, directory: string, libraries?: string): string | undefined {
  if (!existsSync(file)) return undefined;
  const server = join(directory, 'redis-server');
  mkdirSync(directory, { recursive: true });
  try {
    symlinkSync(file, server);
  } catch {
    // It is there already; whether it works is looked at next.
  }
  return isServer(server, libraries) ? server : undefined;
}

export function isServer(command: string, libraries?: string): boolean {
  const { status, stdout } = spawnSync(command, ['--version'], {
    encoding: 'utf8',
    timeout: 5_000,
    env: libraries ? { LD_LIBRARY_PATH: libraries } : {},
  });
  const version = /server v=(\d+)/.exec(stdout ?? '')?.[1];
  return status === 0 && Number(version) >= 7;
}
