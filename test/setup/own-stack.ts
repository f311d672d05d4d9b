// vitest's setupFile for suites that call a deployment: waits for the stack of this worker and tells its tests where it is.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inject } from 'vitest';

if (!process.env.STACK_FILE) {
  const directory = inject('stacks')[Number(process.env.VITEST_POOL_ID) - 1];
  if (!directory) throw new Error(`There is no stack for worker ${process.env.VITEST_POOL_ID}.`);
  while (!existsSync(`${directory}.started`)) {
    const failure = `${directory}.failed`;
    if (existsSync(failure)) throw new Error(readFileSync(failure, 'utf8'));
    await sleep(50);
  }
  process.env.STACK_FILE = join(directory, 'stack.json');
}
