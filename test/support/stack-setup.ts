// vitest's globalSetup for suites that call a deployment: the one that CONTRACT_STACK or STACK_FILE names,
// or else a private stack that ends with the suite.
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startStack } from './stack.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Path of the stack file of the deployment under test. */
    stackFile: string;
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.CONTRACT_STACK ?? process.env.STACK_FILE;
  const stack = given === undefined ? await startStack() : undefined;
  const file = given ?? join(stack?.runDirectory ?? '', 'stack.json');
  project.provide('stackFile', file);
  process.env.STACK_FILE = file;
  return stack?.stop ?? (async () => undefined);
}
