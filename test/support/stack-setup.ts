// vitest's globalSetup for suites that call a deployment: the one that CONTRACT_STACK names, or else a
// private stack that ends with the suite.
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** Path of the stack file of the deployment under test. */
    stackFile: string;
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.CONTRACT_STACK;
  if (given !== undefined) {
    project.provide('stackFile', given);
    return async () => undefined;
  }
  const { startStack } = await import('./stack.ts');
  const stack = await startStack();
  project.provide('stackFile', stack.file);
  return stack.stop;
}
