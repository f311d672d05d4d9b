import { existsSync, linkSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UserService } from '@course-exchange/proto/operator/v1/user';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runAgainst } from '../../testing/run.ts';

let work: string;
let input: string;
beforeEach(() => {
  work = mkdtempSync(join(tmpdir(), 'partnerctl-rejected-'));
  input = join(work, 'lines.ndjson');
  writeFileSync(input, '{not JSON\n');
});
afterEach(() => rmSync(work, { recursive: true }));

const imports = [['user'], ['designs']] as const;

function importWith(noun: string, options: readonly string[]) {
  const words = [noun, 'import', input, ...options];
  return runAgainst((router) => router.service(UserService, {}), words);
}

test.each(imports)('a dry `%s import` writes no file, removes none and mentions none', async (noun) => {
  const before = `${JSON.stringify({ line: 3, reason: 'Earlier.' })}\n`;
  writeFileSync(`${input}.rejected`, before);
  const { exit, out } = await importWith(noun, ['--dry-run']);
  expect(exit).toBe(1);
  expect(out).not.toContain('All rejected lines are in');
  const { out: json } = await importWith(noun, ['--dry-run', '--json']);
  expect(JSON.parse(json)).toMatchObject({ rejected: 1, rejectedFile: null });
  expect(readFileSync(`${input}.rejected`, 'utf8')).toBe(before);
  writeFileSync(input, '');
  await importWith(noun, ['--dry-run']);
  expect(existsSync(`${input}.rejected`)).toBe(true);
});

test.each(imports)('rejected lines of `%s import` never go to the input, by whichever name', async (noun) => {
  symlinkSync(input, join(work, 'link'));
  linkSync(input, join(work, 'twin'));
  symlinkSync(work, join(work, 'alias'));
  const names = [input, ...['link', 'twin', 'alias/lines.ndjson'].map((name) => join(work, name))];
  for (const name of names) {
    const dry = name.endsWith('link') ? ['--dry-run'] : [];
    const { exit, err } = await importWith(noun, ['--rejected', name, ...dry]);
    expect({ exit, err }).toEqual({ exit: 2, err: expect.stringContaining('cannot go to') });
  }
  expect(readFileSync(input, 'utf8')).toBe('{not JSON\n');
});

test.each(imports)('`%s import` replaces no file that an import did not write', async (noun) => {
  const other = join(work, 'letter');
  for (const content of ['Dear Ann\n', '', '{"line":"first"}\n']) {
    writeFileSync(other, content);
    for (const dry of [['--dry-run'], []]) {
      const { exit, err } = await importWith(noun, ['--rejected', other, ...dry]);
      expect({ exit, err }).toEqual({ exit: 2, err: expect.stringContaining(`${other} already exists.`) });
    }
    expect(readFileSync(other, 'utf8')).toBe(content);
  }
  const { err } = await importWith(noun, ['--rejected', join(work, 'no/where')]);
  expect(err).toContain('cannot be written');
});

test('the file of an earlier import is replaced, and removed when nothing is rejected', async () => {
  const file = join(work, 'a\nside');
  const options = ['--rejected', file];
  expect((await importWith('user', options)).out).toContain('/a�side.\n');
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ line: 1, reason: 'It is not valid JSON.' });
  writeFileSync(input, '\n{nor this\n');
  await importWith('user', options);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ line: 2 });
  writeFileSync(input, '\n');
  await importWith('user', options);
  expect(existsSync(file)).toBe(false);
});
