import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConnectRouter, createClient, createRouterTransport } from '@connectrpc/connect';
import { UserService } from '@course-exchange/proto/operator/v1/user';
import { afterAll, expect, test } from 'vitest';
import { runAgainst } from '../../testing/run.ts';
import { importUsers, readUserLine } from './import.ts';

const file = join(mkdtempSync(join(tmpdir(), 'partnerctl-users-')), 'users.ndjson');
const numbers = Array.from({ length: 2_500 }, (_, at) => at + 1);
const users = numbers.map((number) => ({ sub: `u-${number}`, email: `u${number}@a.example` }));
users[2_099] = { sub: '', email: 'U5@A.example' };
users[2_199] = { sub: 'u-7', email: 'other@a.example' };
users[2_299] = { sub: 'other', email: 'free@a.example' };
writeFileSync(file, users.map((user) => `${JSON.stringify(user)}\n`).join(''));
afterAll(() => rmSync(join(file, '..'), { recursive: true }));

test('a user who stands twice in a file is imported once, however far apart the lines are', async () => {
  const sent: number[] = [];
  const transport = createRouterTransport(({ service }) => {
    service(UserService, {
      importUsers: ({ users }) => {
        sent.push(...users.map(({ line }) => Number(line)));
        return {};
      },
    });
  });
  const task = { file, dryRun: false, keepSessions: false, signal: new AbortController().signal };
  const batches = await Array.fromAsync(importUsers(createClient(UserService, transport), task));
  expect(batches.flatMap((batch) => batch.rejected)).toEqual([
    { line: 2_100, reason: 'Line 5 names the same user.' },
    { line: 2_200, reason: 'Line 7 names the same user.' },
  ]);
  expect(sent).toHaveLength(2_498);
  expect(sent).toContain(2_300);
  expect(sent).not.toContain(2_100);
});

test.each([
  [
    [],
    '0 created, 1 updated, 0 unchanged, 0 rejected.\nSigned out because their password was replaced: 1.\n',
  ],
  [['--keep-sessions'], '0 created, 1 updated, 0 unchanged, 0 rejected.\n'],
  [['--dry-run'], 'Dry run: would create 0, update 1 (1 signed out), leave 0 unchanged, reject 0.\n'],
])('an import with %j says how many users it signed out', async (flags, said) => {
  const routes = (router: ConnectRouter) =>
    router.service(UserService, {
      importUsers: ({ keepSessions }) => ({ updated: 1, signedOut: keepSessions ? 0 : 1 }),
    });
  const one = `${file}.one`;
  writeFileSync(one, '{"email":"ann@a.example"}\n');
  expect(await runAgainst(routes, ['user', 'import', one, ...flags])).toEqual({
    exit: 0,
    out: said,
    err: '',
  });
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
