// Postgres refuses to run as root: then it runs as user `postgres`, with programs and data where that user
// can reach them.
import { execFileSync, spawnSync } from 'node:child_process';
import { chownSync, cpSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** Account for Postgres; undefined when the present user will do. Creates user `postgres` when root has none. */
export function postgresAccount(): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const found = lookUp();
  if (found) return found;
  try {
    execFileSync('groupadd', ['--system', '--force', 'postgres'], { stdio: 'ignore' });
    execFileSync('useradd', ['--system', '--gid', 'postgres', '--no-create-home', 'postgres'], {
      stdio: 'ignore',
    });
  } catch {
    throw new Error(
      'Postgres does not run as root, and a user "postgres" could not be created: start as another user.',
    );
  }
  const created = lookUp();
  if (!created) throw new Error('Postgres does not run as root, and the user "postgres" was not found.');
  return created;
}

function lookUp(): Account | undefined {
  const [uid, gid] = ['-u', '-g'].map((flag) => {
    const { status, stdout } = spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' });
    return status === 0 ? Number(stdout) : undefined;
  });
  return uid === undefined || gid === undefined ? undefined : { uid, gid };
}

/** True when `account` may pass through every directory on the way to `path` and through `path` itself. */
export function canReach(account: Account | undefined, path: string): boolean {
  if (!account) return true;
  return (
    spawnSync('/bin/sh', ['-c', 'test -x "$1"', 'sh', path], { ...account, cwd: '/', stdio: 'ignore' })
      .status === 0
  );
}

/** `directory`, or a copy of it called `copy` when `account` cannot reach it. The copy is made whole or not at all. */
export function reachableCopy(account: Account | undefined, directory: string, copy: string): string {
  if (canReach(account, join(directory, 'bin', 'postgres'))) return directory;
  if (canReach(account, join(copy, 'bin', 'postgres'))) return copy;
  mkdirSync(dirname(copy), { recursive: true, mode: 0o755 });
  const unfinished = `${copy}.${process.pid}`;
  cpSync(directory, unfinished, { recursive: true, verbatimSymlinks: true });
  try {
    renameSync(unfinished, copy);
  } catch {
    // Another start made the same copy first.
    rmSync(unfinished, { recursive: true, force: true });
  }
  return copy;
}

/** Makes `directory` belong to `account`, readable by nobody else; what is made above it may be passed through. */
export function ownDirectory(account: Account | undefined, directory: string): void {
  mkdirSync(dirname(directory), { recursive: true, mode: 0o711 });
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  if (account) chownSync(directory, account.uid, account.gid);
}
