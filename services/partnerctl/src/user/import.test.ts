import {
  appendFileSync,
  existsSync,
  linkSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConnectRouter, createClient, createRouterTransport } from '@connectrpc/connect';
import { ClientService } from '@course-exchange/proto/operator/v1/client';
import { UserService } from '@course-exchange/proto/operator/v1/user';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runAgainst } from '../../testing/run.ts';
import { importUsers, openImportJournal } from './import.ts';
import { readUserLine } from './user-line.ts';

let file: string;
beforeAll(() => {
  file = join(mkdtempSync(join(tmpdir(), 'partnerctl-users-')), 'users.ndjson');
  const users = Array.from({ length: 2_500 }, (_, at) => ({
    sub: `u-${at + 1}`,
    email: `u${at + 1}@a.example`,
  }));
  users[2_099] = { sub: 'other', email: 'U5@A.example' };
  users[2_199] = { sub: 'u-7', email: 'other@a.example' };
  users[2_299] = { sub: 'other', email: 'free@a.example' };
  writeFileSync(file, users.map((user) => `${JSON.stringify(user)}\n`).join(''));
});
afterAll(() => rmSync(join(file, '..'), { recursive: true }));

async function imported(after: number) {
  const sent: number[] = [];
  const transport = createRouterTransport(({ service }) => {
    service(UserService, {
      importUsers: ({ users }) => {
        sent.push(...users.map(({ line }) => Number(line)));
        return {};
      },
    });
  });
  const { signal } = new AbortController();
  const task = { file, dryRun: false, keepSessions: false, after, signal };
  const batches = await Array.fromAsync(importUsers(createClient(UserService, transport), task));
  return { sent, rejected: batches.flatMap((batch) => batch.rejected) };
}

test.each([0, 1_000, 2_000])(
  'a user who stands twice in a file is imported once, also when the import goes on after line %d',
  async (after) => {
    const { sent, rejected } = await imported(after);
    expect(rejected).toEqual([
      { line: 2_100, reason: 'Line 5 names the same user.' },
      { line: 2_200, reason: 'Line 7 names the same user.' },
    ]);
    expect(sent).toHaveLength(2_498 - after);
    expect(sent).toContain(2_300);
    expect(sent).not.toContain(2_100);
  },
);

test.each([
  [[], '1 updated, 0 unchanged, 0 rejected.\nSigned out because their password was replaced: 1.\n'],
  [['--keep-sessions'], '1 updated, 0 unchanged, 0 rejected.\n'],
])('an import with %j says how many users it signed out', async (flags, said) => {
  const routes = (router: ConnectRouter) =>
    router.service(ClientService, { describeInstallation: () => ({}) }).service(UserService, {
      importUsers: ({ keepSessions }) => ({ updated: 1, signedOut: keepSessions ? 0 : 1 }),
    });
  const one = `${file}.one`;
  writeFileSync(one, '{"email":"ann@a.example"}\n');
  expect(await runAgainst(routes, ['user', 'import', one, ...flags])).toEqual({
    exit: 0,
    out: `0 created, ${said}`,
    err: '',
  });
});

const batch = (through: number) => ({
  ...{ through, created: through, updated: 0, unchanged: 0, signedOut: 0 },
  rejected: [],
});

test('an import goes on after the last whole line, and only in the same file and installation', () => {
  const path = `${file}.import`;
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

test('a crash while an import resumes loses no batch: the journal is replaced whole', () => {
  const [path, before] = [`${file}.journal`, `${file}.before`];
  const first = openImportJournal(path, 'one');
  first.add(batch(1000));
  first.close();
  appendFileSync(path, '{"through":20');
  const text = readFileSync(path, 'utf8');
  linkSync(path, before);
  openImportJournal(path, 'one').close();
  expect(readFileSync(before, 'utf8')).toBe(text);
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
