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
import { afterAll, beforeAll, expect, test } from 'vitest';
import { run, runAgainst } from '../../testing/run.ts';

let work: string;
beforeAll(() => {
  work = mkdtempSync(join(tmpdir(), 'partnerctl-files-'));
});
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
