// Programs from Debian's packages, unpacked into the cache: no root, and nothing registered with the system.
import { execFile } from 'node:child_process';
import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

/**
 * Unpacks the first of `packages`, and what this system has of the others, into `home`; `prepare` may add to the folder
 * before it is there. Changes nothing where apt or the network is missing.
 */
export async function unpackDebianPackage(
  home: string,
  packages: readonly string[],
  prepare: (folder: string) => void = () => {},
): Promise<void> {
  const unfinished = `${home}.${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  const script = join(import.meta.dirname, 'debian-package.sh');
  try {
    await promisify(execFile)('bash', [script, ...packages], { cwd: unfinished, timeout: 300_000 });
    prepare(unfinished);
    rmSync(home, { recursive: true, force: true });
    renameSync(unfinished, home);
  } catch {
    rmSync(unfinished, { recursive: true, force: true });
  }
}
