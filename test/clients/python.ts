// A Python of its own for the client of another ecosystem: a virtual environment in the cache, filled from PyPI
// once.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheDirectory } from '@course-exchange/local-stack/cache';

const run = promisify(execFile);
const packages = ['authlib==1.9.8', 'joserfc==1.8.0', 'requests==2.34.2'];

/** Path of a Python that can import Authlib. Throws one sentence that says what is missing. */
export async function pythonWithAuthlib(): Promise<string> {
  const home = join(cacheDirectory(), `python-${packages.join('-').replaceAll('==', '-')}`);
  const python = join(home, 'bin/python3');
  if (existsSync(python)) return python;
  await makeEnvironment(home).catch(async () => {
    await bringPython();
    await makeEnvironment(home);
  });
  return python;
}

async function makeEnvironment(home: string): Promise<void> {
  await mkdir(join(home, '..'), { recursive: true });
  // Filled before it is relied upon: the marker of a whole environment is its name.
  await rm(home, { recursive: true, force: true });
  const half = `${home}.${process.pid}`;
  await rm(half, { recursive: true, force: true });
  await run('python3', ['-m', 'venv', half]);
  await run(join(half, 'bin/python3'), ['-m', 'pip', 'install', '--quiet', ...packages]);
  await rename(half, home);
}

async function bringPython(): Promise<void> {
  const sentence = 'The Authlib test needs python3 with venv and pip, and PyPI within reach.';
  if (process.getuid?.() !== 0) throw new Error(sentence);
  await run('apt-get', ['install', '--yes', '--quiet', 'python3-venv']).catch((cause) => {
    throw new Error(sentence, { cause });
  });
}
