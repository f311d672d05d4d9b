import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test('a failure that no command foresees ends with exit code 1', async () => {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'main.ts'), 'nonsense'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  // The sentence finds no reader.
  child.stderr.destroy();
  expect(await once(child, 'exit')).toEqual([1, null]);
});
