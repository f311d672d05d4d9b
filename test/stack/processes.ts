// What a test of the local stack asks of the system: which processes are left, and when all are gone.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PrivateStack } from '../support/stack.ts';

/** Numbers of all processes that stack.json names. */
export function processesOf({ description }: PrivateStack): readonly number[] {
  return Object.values(description.processes ?? {});
}

/** Milliseconds until none of `pids` is left. Rejects after `withinMs`. */
export async function untilGone(pids: readonly number[], withinMs: number): Promise<number> {
  const begun = performance.now();
  while (pids.some(lives)) {
    if (performance.now() - begun > withinMs)
      throw new Error(`Still there: ${pids.filter(lives).join(', ')}`);
    await sleep(20);
  }
  return performance.now() - begun;
}

/** An exit that nobody has read yet does not count as a process. */
function lives(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
  } catch {
    return false;
  }
}
