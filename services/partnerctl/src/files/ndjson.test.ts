import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { identifyFile, lineBlocks } from './ndjson.ts';

const directory = mkdtempSync(join(tmpdir(), 'ndjson-'));
afterAll(() => rmSync(directory, { recursive: true }));

async function read(content: string | Buffer) {
  const path = join(directory, 'file');
  writeFileSync(path, content);
  const numbered: [number, string | undefined][] = [];
  for await (const { first, lines } of lineBlocks(path))
    numbered.push(...lines.map((line, index): [number, string | undefined] => [first + index, line]));
  return { numbered, identity: await identifyFile(path) };
}

test('lines are numbered from 1, with or without a break at the end', async () => {
  expect((await read('a\nb\n')).numbered).toEqual([
    [1, 'a'],
    [2, 'b'],
  ]);
  expect((await read('a\n\nb')).numbered).toEqual([
    [1, 'a'],
    [2, ''],
    [3, 'b'],
  ]);
  expect((await read('')).numbered).toEqual([]);
  expect((await read('a\n\nb')).identity.lines).toBe(3);
  expect((await read('a\nb\n')).identity.lines).toBe(2);
});

test('a byte order mark is left out, and a line that is not UTF-8 harms no other', async () => {
  expect((await read('\ufeffa\nb')).numbered[0]).toEqual([1, 'a']);
  const broken = Buffer.concat([Buffer.from('a\n'), Buffer.from([0xc3, 0x28]), Buffer.from('\nä\n')]);
  expect((await read(broken)).numbered).toEqual([
    [1, 'a'],
    [2, undefined],
    [3, 'ä'],
  ]);
});

test('lines across chunks stay whole, characters of several bytes too', async () => {
  const lines = Array.from({ length: 30_000 }, (_, index) => `${index}:${'ä€😀'.repeat(index % 20)}`);
  const { numbered, identity } = await read(lines.join('\n'));
  expect(numbered.map(([, line]) => line)).toEqual(lines);
  expect(numbered.every(([number], index) => number === index + 1)).toBe(true);
  expect(identity.lines).toBe(30_000);
});

test('a file without lines is refused instead of read into memory', async () => {
  await expect(read(Buffer.alloc(6 << 20, 'x'))).rejects.toThrow(/longer than 4 MiB/);
});

test('the same content is the same file, other content another', async () => {
  const { digest } = (await read('a\n')).identity;
  expect((await read('a\n')).identity.digest).toBe(digest);
  expect((await read('a')).identity.digest).not.toBe(digest);
});
