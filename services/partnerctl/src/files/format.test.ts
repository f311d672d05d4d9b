import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { run } from '../../testing/run.ts';

const work = mkdtempSync(join(tmpdir(), 'partnerctl-format-'));
afterAll(() => rmSync(work, { recursive: true }));

const user = { sub: 'u', email: 'u@example.com', name: 'U', passwordHash: '' };
const lines = `${JSON.stringify(user)}\n${JSON.stringify(user)}\n`;
const utf16 = (text: string) => Buffer.from(text, 'utf16le');
const array = JSON.stringify([user, user], undefined, 2);

const others: readonly (readonly [is: string, content: string | Buffer])[] = [
  ['UTF-16', Buffer.from(`\ufeff${lines}`, 'utf16le')],
  ['UTF-16', utf16(`\ufeff${lines}`).swap16()],
  ['UTF-16', utf16(lines)],
  ['UTF-16', utf16(`\r\n${lines}`).swap16()],
  ['UTF-32', Buffer.concat(Array.from(`\ufeff${lines}`, (letter) => utf16(`${letter}\0`)))],
  ['a JSON array', array],
  ['a JSON array', `\ufeff\r\n\t ${array}`],
  ['a JSON array', JSON.stringify([user])],
  ['a JSON array', '[]'],
  [
    'JSON over several lines, or with commas between its records',
    JSON.stringify({ users: [user, user] }, undefined, 1),
  ],
  ['JSON over several lines, or with commas between its records', `{"users": [\r\n${lines}]}`],
  ['JSON over several lines, or with commas between its records', `${JSON.stringify(user)},\n${lines}`],
  ['JSON over several lines, or with commas between its records', `{"users":\n[\n${lines}]}`],
  [
    'JSON over several lines, or with commas between its records',
    '{ "sub": "u",\n"email": "u@example.com" }\n',
  ],
  ['not JSON, perhaps CSV', 'sub,email\nu,u@example.com\n'],
  ['not JSON, perhaps CSV', '\ufeff"sub";"email"\r\n"u";"u@example.com"\r\n'],
  ['not JSON, perhaps CSV', Buffer.from('Straße\tE-Mail\n', 'latin1')],
  ['compressed by gzip', gzipSync(lines)],
  ['a ZIP archive or an Excel workbook', Buffer.from('PK\u0003\u0004\u0014\0', 'latin1')],
  ['an Excel workbook', Buffer.from('d0cf11e0a1b11ae1', 'hex')],
  ['compressed by zstd', Buffer.from('28b52ffd0458', 'hex')],
];

test.each(['user', 'designs'].flatMap((noun) => others.map((other) => [noun, ...other] as const)))(
  '`%s import` refuses what is %s, before anything (case %#)',
  async (noun, is, content) => {
    const file = join(work, 'lines.ndjson');
    writeFileSync(file, content);
    const expected = 'NDJSON is expected: one JSON object a line, in UTF-8.';
    for (const option of ['--dry-run', '--json']) {
      const { exit, out, err } = await run([noun, 'import', file, option]);
      expect({ exit, out }).toEqual({ exit: 2, out: '' });
      expect(err).toContain(`${file} is ${is}; ${expected}`);
    }
    expect(existsSync(`${file}.rejected`)).toBe(false);
    const bytes = Buffer.from(content);
    const input = Readable.from(Array.from(bytes, (_, at) => bytes.subarray(at, at + 1)));
    const { exit, err } = await run([noun, 'import', '-'], { input });
    expect({ exit, err }).toMatchObject({
      exit: 2,
      err: expect.stringContaining(`Standard input is ${is};`),
    });
  },
);

test.each([
  '',
  '\n\n',
  '\ufeff',
  `\ufeff${lines}`,
  `\r\n${lines}`,
  `{"broken\n${lines}`,
  `{\0broken\n${lines}`,
  `null\n${lines}`,
  `"text"\n${lines}`,
  Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xfc]), Buffer.from(`"}\n${lines}`)]),
])('a file that may have right lines is read line by line (case %#)', async (content) => {
  const file = join(work, 'right.ndjson');
  writeFileSync(file, content);
  const { exit, out } = await run(['designs', 'import', file, '--dry-run']);
  expect(exit).toBe(String(content).trim() === '' || content === '\ufeff' ? 0 : 1);
  expect(out).toMatch(/^Dry run/);
});

test.each([
  ['UTF-16', utf16(lines)],
  ['compressed by gzip', gzipSync(lines)],
  ['a JSON array', array],
])('a log that is %s is refused, by the fence and by the export', async (is, content) => {
  const file = join(work, 'audit.ndjson');
  writeFileSync(file, content);
  for (const words of [
    ['restore', 'fence', '--restored', 'postgres', '--audit-log', file],
    ['audit', 'list', '--append', file],
  ]) {
    const { exit, err } = await run([...words, '--identity', '127.0.0.1:1']);
    expect({ exit, err }).toMatchObject({ exit: 2, err: expect.stringContaining(`${file} is ${is};`) });
  }
});

test('lines of a log that are no JSON are skipped', async () => {
  const file = join(work, 'mixed.log');
  writeFileSync(file, '[2026-11-20] started\nE text\n');
  const { err } = await run(['restore', 'fence', '--restored', 'postgres', '--audit-log', file]);
  expect(err).toContain('has no entry of the audit log.');
});
