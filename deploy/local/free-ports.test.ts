import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);
const program = `
  import { choosePorts } from ${JSON.stringify(import.meta.resolve('./free-ports.ts'))};
  const names = Array.from({ length: 300 }, (_, each) => String(each));
  console.log(Object.values(await choosePorts(names)).join(' '));`;

test('processes that choose ports at once never choose the same', async () => {
  const words = ['--input-type=module', '--eval', program];
  const all = await Promise.all(Array.from({ length: 4 }, () => run(process.execPath, words)));
  const ports = all.flatMap(({ stdout }) => stdout.trim().split(' '));
  expect(new Set(ports).size).toBe(4 * 300);
});
