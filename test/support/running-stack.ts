// Where a suite finds the stack that it speaks to: the file that STACK_FILE names, else that of `pnpm start`.
import { join } from 'node:path';
import { readStackFile, type StackFile } from './stack-file.ts';

export function runningStack(): StackFile {
  return readStackFile(process.env.STACK_FILE ?? join(import.meta.dirname, '../../.run/stack.json'));
}
