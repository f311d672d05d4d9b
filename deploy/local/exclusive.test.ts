// What machines lack is brought by one process at a time.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

const run = promisify(execFile);

test('processes that bring something at once do so one after another, also after one that was killed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'course-exchange-exclusive-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const log = join(folder, 'log');
  const program = `
    import { appendFileSync } from 'node:fs';
    import { setTimeout as sleep } from 'node:timers/promises';
    import { whileAlone } from ${JSON.stringify(import.meta.resolve('./exclusive.ts'))};
    await Promise.all([1, 2].map(() => whileAlone(async () => {
      appendFileSync(${JSON.stringify(log)}, 'in ');
      await sleep(50);
      if (process.argv[1] === 'dies') process.kill(process.pid, 'SIGKILL');
      appendFileSync(${JSON.stringify(log)}, 'out ');
    })));`;
  const start = (...more: readonly string[]) =>
    run(process.execPath, ['--input-type=module', '--eval', program, ...more], { timeout: 60_000 });
  await expect(start('dies')).rejects.toMatchObject({ signal: 'SIGKILL' });
  await Promise.all([start(), start(), start()]);
  expect(readFileSync(log, 'utf8')).toBe(`in ${'in out '.repeat(6)}`);
});
