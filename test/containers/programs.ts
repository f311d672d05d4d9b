// Programs that the suite needs, and how it gets them where it may: root on a Debian.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

export function onPath(program: string): boolean {
  return (process.env.PATH ?? '').split(':').some((folder) => existsSync(join(folder, program)));
}

export function isRootOnLinux(): boolean {
  return process.platform === 'linux' && process.getuid?.() === 0;
}

/** Installs Debian's packages where `program` is missing; says whether it is there now. */
export function obtain(program: string, packages: readonly string[], say: (line: string) => void): boolean {
  if (onPath(program)) return true;
  if (!isRootOnLinux() || !onPath('apt-get')) return false;
  say(`Installing ${packages.join(', ')} …`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const apt = (...words: string[]) =>
    spawnSync('apt-get', words, { stdio: ['ignore', 'ignore', 'inherit'], env });
  apt('update', '-qq');
  apt('install', '-y', '-qq', '--no-install-recommends', ...packages);
  return onPath(program);
}
