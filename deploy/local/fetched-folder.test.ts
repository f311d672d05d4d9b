// A folder that is fetched is whole or not there.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { fetchFolder, outputOf } from './fetched-folder.ts';
import { statOf } from './shutdown.ts';

const cache = mkdtempSync(join(tmpdir(), 'course-exchange-fetched-'));
afterAll(() => rmSync(cache, { recursive: true }));

test('it replaces an earlier one, and a failure leaves the earlier one', async () => {
  const home = join(cache, 'whole');
  await fetchFolder(home, async (folder) => writeFileSync(join(folder, 'first'), ''));
  await expect(fetchFolder(home, () => outputOf('false', []).then(() => {}))).rejects.toThrow();
  expect(readdirSync(home)).toEqual(['first']);
  await fetchFolder(home, async (folder) => writeFileSync(join(folder, 'second'), ''));
  expect(readdirSync(home)).toEqual(['second']);
  expect(readdirSync(cache)).toEqual(['whole']);
});

test.each(['SIGINT', 'SIGTERM'] as const)('%s ends what fetches, and nothing is left', async (signal) => {
  const home = join(cache, signal);
  const program = `
    import { fetchFolder, outputOf } from ${JSON.stringify(import.meta.resolve('./fetched-folder.ts'))};
    await fetchFolder(${JSON.stringify(home)}, async (folder) => {
      await outputOf('sh', ['-c', 'echo $$ > pid; exec sleep 60'], { cwd: folder });
    });`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program]);
  const file = join(`${home}.unfinished`, 'pid');
  await expect.poll(() => existsSync(file)).toBe(true);
  await expect.poll(() => readFileSync(file, 'utf8')).toMatch(/\d\n/);
  const pid = Number(readFileSync(file, 'utf8'));
  child.kill(signal);
  expect(await once(child, 'exit')).toEqual([130, null]);
  expect(existsSync(`${home}.unfinished`)).toBe(false);
  await expect.poll(() => statOf(pid)?.[0] ?? 'Z').toBe('Z');
});
