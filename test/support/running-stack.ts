// The stack that a suite speaks to: the one that stack-setup.ts started or was given.
import { inject } from 'vitest';
import { readStackFile, type StackFile } from './stack-file.ts';

export function runningStack(): StackFile {
  return readStackFile(inject('stackFile'));
}
