// vitest's globalSetup of every suite: temporary files are in memory if they fit, since on a busy disk a store
// answers after its second, and are gone when the run ends. What our own programs and tests have left by then fails it.
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { cacheDirectory } from '@course-exchange/local-stack/run-directory';

const prefix = 'course-exchange-tests-';
const inMemory = '/dev/shm';
/** Bytes that must be free there; a run takes a fifth of them. */
const room = 4 * 2 ** 30;
/** Names that tests and programs of ours give; those of a browser and other tools are not checked. */
const ours =
  /^(course-exchange|demo-partner|env|partnerctl|feed-import|operator|line-blocks|import-rules|chart)-/;

/** Each project loads this file again, and the first of them makes the folder. */
export function setup(): void {
  if (basename(tmpdir()).startsWith(prefix)) return;
  const scratch = mkdtempSync(join(process.env.TMPDIR ?? (isRoomy() ? inMemory : tmpdir()), prefix));
  // User `postgres` passes through it to the data of its stores when the tests run as root.
  chmodSync(scratch, 0o711);
  process.env.TMPDIR = scratch;
  // Hundreds of processes of ours start: each source is stripped of its types once.
  process.env.NODE_COMPILE_CACHE ??= join(cacheDirectory(), 'compiled');
  process.once('exit', () => {
    const left = readdirSync(scratch).filter((name) => ours.test(name));
    for (const name of left) console.log(`FAILED ${name} was left in the temporary directory`);
    if (left.length > 0) process.exitCode = 1;
    rmSync(scratch, { recursive: true, force: true });
  });
}

function isRoomy(): boolean {
  try {
    const { bavail, bsize } = statfsSync(inMemory);
    // What lies there takes the memory of all; programs may not run in a container's.
    const mount = readFileSync('/proc/self/mounts', 'utf8')
      .split('\n')
      .map((line) => line.split(' '))
      .findLast(([, path]) => path === inMemory);
    return Math.min(bavail * bsize, freemem() / 2) > room && !mount?.[3]?.split(',').includes('noexec');
  } catch {
    return false;
  }
}
