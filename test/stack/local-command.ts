// The local stack as its tests meet it: a command run to its end, and which of its processes are left.
import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { statOf } from '@course-exchange/local-stack/shutdown';
import { ownStopwatch } from '../support/own-time.ts';
import { entry, type PrivateStack } from '../support/stack.ts';

export async function command(args: readonly string[]): Promise<{ code: number; output: string }> {
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [entry, ...args]);
    return { code: 0, output: stdout + stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, output: stdout + stderr };
  }
}

/** Numbers of all processes that stack.json names. */
export function processesOf({ description }: PrivateStack): readonly number[] {
  return Object.values(description.processes ?? {});
}

/** Milliseconds, of those that this process had, until none of `pids` is left. Rejects after `withinMs`. */
export async function untilGone(pids: readonly number[], withinMs: number): Promise<number> {
  const elapsed = ownStopwatch();
  while (pids.some(lives)) {
    if (elapsed() > withinMs) throw new Error(`Still there: ${pids.filter(lives).join(', ')}`);
    await sleep(20);
  }
  return elapsed();
}

/** An exit that nobody has read yet does not count as a process. */
const lives = (pid: number): boolean => /^[^ZX]/.test(statOf(pid)?.[0] ?? '');
