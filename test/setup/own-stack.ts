// vitest's setupFile for suites that call a deployment: waits for the stack of this worker and tells its tests where it is.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inject } from 'vitest';

/** Path of the stack file of a worker, when its stack has started; rejects with what its start said. */
export async function stackOf(worker: number): Promise<string> {
  const directory = inject('stacks')[worker - 1];
  if (!directory) throw new Error(`There is no stack for worker ${worker}.`);
  while (!existsSync(`${directory}.started`)) {
    if (existsSync(`${directory}.failed`)) throw new Error(readFileSync(`${directory}.failed`, 'utf8'));
    await sleep(50);
  }
  return join(directory, 'stack.json');
}

process.env.STACK_FILE ??= await stackOf(Number(process.env.VITEST_POOL_ID));
