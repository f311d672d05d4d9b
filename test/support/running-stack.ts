// The stack that a suite speaks to: the one that setup/own-stack.ts waited for or was given.
import { readStackFile, type StackFile } from './stack-file.ts';

/** Path of its stack file. */
export function stackFile(): string {
  const { STACK_FILE } = process.env;
  if (!STACK_FILE) throw new Error('STACK_FILE is missing: no deployment is named.');
  return STACK_FILE;
}

export function runningStack(): StackFile {
  return readStackFile(stackFile());
}
