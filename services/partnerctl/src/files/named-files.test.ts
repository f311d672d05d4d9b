import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { ClientService } from '@course-exchange/proto/operator/v1/client';
import { afterAll, expect, test } from 'vitest';
import { run, runAgainst } from '../../testing/run.ts';
import { identifyFile, lineBlocks } from './ndjson.ts';

const work = mkdtempSync(join(tmpdir(), 'partnerctl-files-'));
afterAll(() => rmSync(work, { recursive: true }));

test('an export replaces its file whole, for its owner alone, also behind a link', async () => {
  const file = join(work, 'clients.yaml');
  const link = join(work, 'li\nnk.yaml');
  writeFileSync(file, 'before', { mode: 0o644 });
  symlinkSync(file, link);
  const exports = { exportClients: () => ({ clients: [] }) };
  const words = ['client', 'export', '--out', link];
  const { out } = await runAgainst((router) => router.service(ClientService, exports), words);
  expect(out).toContain('li�nk.yaml.\n');
  expect(readFileSync(file, 'utf8')).toContain('clients:');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(work).sort()).toEqual(['clients.yaml', 'li\nnk.yaml']);
});

test.each([
  ['user', 'import'],
  ['designs', 'import'],
])('a directory is no file for `%s %s`', async (noun, verb) => {
  const { exit, err } = await run([noun, verb, work]);
  expect({ exit, err }).toEqual({
    exit: 2,
    err: expect.stringMatching(/^\S+ cannot be read\.\nCheck the name/),
  });
});

test.each([
  ['user import -', 'Split the file, or'],
  ['designs import -', 'Split the file, or'],
  ['restore fence --restored postgres --audit-log -', `(grep '"operator.change"'), or`],
])('`%s` says how to give less than 64 MiB of standard input', async (line, advice) => {
  const input = Readable.from(Array(65).fill(Buffer.alloc(1 << 20)));
  const { exit, err } = await run(line.split(' '), { input });
  expect({ exit, err }).toEqual({ exit: 2, err: expect.stringContaining(advice) });
  expect(err).toContain('Standard input is larger than 64 MiB.');
});

test.each(['/dev/null', '/nowhere/clients.yaml', '/'])('an export never replaces %s', async (out) => {
  const { exit, err } = await run(['client', 'export', '--out', out]);
  expect({ exit, err }).toEqual({ exit: 2, err: expect.stringContaining(`${out} cannot be written.`) });
});

async function read(content: string | Buffer) {
  const path = join(work, 'lines');
  writeFileSync(path, content);
  const numbered: string[] = [];
  for await (const { first, lines } of lineBlocks(path))
    numbered.push(...lines.map((line, index) => `${first + index} ${line}`));
  return { numbered, identity: await identifyFile(path) };
}

test('lines are numbered from 1, with or without a break at the end', async () => {
  expect((await read('{a\nb\n')).numbered).toEqual(['1 {a', '2 b']);
  expect((await read('{a\n\nb')).numbered).toEqual(['1 {a', '2 ', '3 b']);
  expect((await read('')).numbered).toEqual([]);
  expect((await read('{a\n\nb')).identity.lines).toBe(3);
  expect((await read('{a\nb\n')).identity.lines).toBe(2);
});

test('a byte order mark is left out, and a line that is not UTF-8 harms no other', async () => {
  expect((await read('\ufeff{a\nb')).numbered).toEqual(['1 {a', '2 b']);
  const broken = Buffer.concat([Buffer.from('{a\n'), Buffer.from([0xc3, 0x28]), Buffer.from('\nä\n')]);
  expect((await read(broken)).numbered).toEqual(['1 {a', '2 undefined', '3 ä']);
});

test('lines across chunks stay whole, characters of several bytes too', async () => {
  const lines = Array.from({ length: 30_000 }, (_, index) => `{${index} ${'ä€😀'.repeat(index % 20)}`);
  const { numbered, identity } = await read(lines.join('\n'));
  expect(numbered).toEqual(lines.map((line, index) => `${index + 1} ${line}`));
  expect(identity.lines).toBe(30_000);
});

test('a file without lines is refused instead of read into memory', async () => {
  await expect(read(Buffer.alloc(6 << 20, 'x'))).rejects.toThrow(/longer than 4 MiB/);
});

test('the same content is the same file, other content another', async () => {
  const { digest } = (await read('{a\n')).identity;
  expect((await read('{a\n')).identity.digest).toBe(digest);
  expect((await read('{a')).identity.digest).not.toBe(digest);
});
