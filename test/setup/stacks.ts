// vitest's globalSetup for suites that call a deployment: the one that STACK_FILE names, or else a private stack for each
// worker. The first project starts them; all projects end together, and the stacks with them.
import { readdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startStack } from '../support/stack.ts';

export async function setup({ vitest, config }: TestProject): Promise<undefined | (() => Promise<void>)> {
  if (process.env.STACK_FILE || process.env.STACK_FILES) return;
  const stacks = await allOrNone(Array.from({ length: config.maxWorkers }, () => startStack()));
  process.env.STACK_FILES = stacks.map(({ file }) => file).join(delimiter);
  return async () => {
    if (vitest.state.getCountOfFailedTests() > 0)
      for (const { runDirectory } of stacks) printWarnings(runDirectory);
    await Promise.all(stacks.map(({ stop }) => stop()));
  };
}

/** Those that were started end where one cannot start. */
export async function allOrNone<Started extends { readonly stop: () => Promise<unknown> }>(
  starting: readonly Promise<Started>[],
): Promise<readonly Started[]> {
  const outcomes = await Promise.allSettled(starting);
  const started = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
  const failure = outcomes.find(({ status }) => status === 'rejected');
  if (failure === undefined) return started;
  await Promise.all(started.map(({ stop }) => stop()));
  throw (failure as PromiseRejectedResult).reason;
}

/** What the services warned of last: a failure that the next run does not repeat is found in it. */
function printWarnings(runDirectory: string): void {
  const logs = join(runDirectory, 'logs');
  for (const name of readdirSync(logs)) {
    const lines = readFileSync(join(logs, name), 'utf8').split('\n');
    const warnings = lines.filter((line) => /"level":"(warn|error)"/.test(line)).slice(-20);
    for (const line of warnings) console.log(`${name}: ${line.slice(0, 400)}`);
  }
}
