// The local stack as its tests meet it: a command run to its end, and which of its processes are left.
import { setTimeout as sleep } from 'node:timers/promises';
import { statOf } from '@course-exchange/local-stack/shutdown';
import { ownStopwatch } from '../support/own-time.ts';
import { startProcess } from '../support/process.ts';
import { entry, type PrivateStack } from '../support/stack.ts';

export async function command(words: readonly string[]) {
  const { exit: code, out, err } = await startProcess(process.execPath, [entry, ...words]).ended;
  return { code, output: out + err };
}

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
