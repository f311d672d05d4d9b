import { appendFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openImportJournal } from './import.ts';
import { readUserLine } from './user-line.ts';

let path: string;
beforeAll(() => {
  path = join(mkdtempSync(join(tmpdir(), 'partnerctl-journal-')), 'users.import');
});
afterAll(() => rmSync(join(path, '..'), { recursive: true }));

const batch = (through: number) => ({
  through,
  created: through,
  updated: 0,
  unchanged: 0,
  signedOut: 0,
  rejected: [],
});

test('an import goes on after the last whole line, and only in the same file and installation', () => {
  const first = openImportJournal(path, 'one');
  first.add(batch(1000));
  first.add(batch(2000));
  first.close();
  appendFileSync(path, '{"through":30');
  const second = openImportJournal(path, 'one');
  expect(second.done.map(({ through }) => through)).toEqual([1000, 2000]);
  second.add(batch(3000));
  second.close();
  const third = openImportJournal(path, 'one');
  expect(third.done.map(({ through }) => through)).toEqual([1000, 2000, 3000]);
  third.close();
  const other = openImportJournal(path, 'two');
  expect(other.done).toEqual([]);
  other.close();
  other.remove();
  expect(existsSync(path)).toBe(false);
});

test.each([
  ['nonsense', 'It is not valid JSON.'],
  ['[]', 'It is not a JSON object.'],
  ['{"email":5}', 'email is neither text nor null.'],
  ['{"emailVerified":"yes"}', 'emailVerified is neither true, false nor null.'],
  ['{"passwort":"$2b$10$canary"}', expect.stringContaining('A field is unknown')],
  [undefined, 'It is not UTF-8.'],
])('the line %s is rejected with a reason that does not quote it', (content, reason) => {
  expect(readUserLine(content, 1).reason).toEqual(reason);
  expect(readUserLine(content, 1).reason).not.toContain('canary');
});
