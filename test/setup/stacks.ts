// vitest's globalSetup for suites that call a deployment: the one that STACK_FILE names, or else a private stack for each
// worker. They start while suites run that need none, and end with the run.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { newRunDirectory, startStack } from '../support/stack.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The run directories of the stacks, one for each worker; beside it lies `.started` or `.failed` when its start is over. */
    stacks: readonly string[];
  }
}

/** Each project loads this file anew. */
const shared = globalThis as { courseExchangeStacks?: ReturnType<typeof startStacks> };

export function setup({ vitest, provide, config }: TestProject): undefined | (() => Promise<void>) {
  if (process.env.STACK_FILE) return;
  shared.courseExchangeStacks ??= startStacks(config.maxWorkers);
  const stacks = shared.courseExchangeStacks;
  stacks.users += 1;
  provide('stacks', stacks.directories);
  return async () => {
    stacks.users -= 1;
    if (stacks.users > 0) return;
    if (vitest.state.getCountOfFailedTests() > 0) stacks.directories.forEach(printWarnings);
    await stacks.stop();
  };
}

function startStacks(count: number) {
  const directories = Array.from({ length: count }, newRunDirectory);
  const starts = directories.map(async (directory) => {
    const stack = await startStack([], directory).catch((error: Error) => {
      writeFileSync(`${directory}.failed`, error.message);
    });
    if (stack) writeFileSync(`${directory}.started`, '');
    return stack;
  });
  const stop = async () => {
    await Promise.all(starts.map(async (start) => (await start)?.stop()));
  };
  /** `users`: projects that have not ended. */
  return { directories, users: 0, stop };
}

/** What the services warned of last: a failure that the next run does not repeat is found in it. */
function printWarnings(runDirectory: string): void {
  const logs = join(runDirectory, 'logs');
  if (!existsSync(logs)) return;
  for (const name of readdirSync(logs)) {
    const lines = readFileSync(join(logs, name), 'utf8').split('\n');
    const warnings = lines.filter((line) => /"level":"(warn|error)"/.test(line)).slice(-20);
    for (const line of warnings) console.log(`${name}: ${line.slice(0, 400)}`);
  }
}
