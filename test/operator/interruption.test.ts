// kill -9 in the middle of imports: said again, the same line comes to the same end.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runningStack } from '../support/stack-file.ts';
import { answerOf, holdRow, startTool, tool } from './tool.ts';

const work = mkdtempSync(join(tmpdir(), 'partnerctl-interruption-'));
const database = new pg.Client(runningStack().postgres);

beforeAll(() => database.connect());
afterAll(async () => {
  await database.end();
  rmSync(work, { recursive: true });
});

async function count(sql: string): Promise<number> {
  const { rows } = await database.query<{ count: string }>(sql);
  return Number(rows[0]?.count);
}

/** Kills an import with SIGKILL where it waits for the row of `insert`; then what the service was at is over. */
async function killHalfway(words: readonly string[], insert: string) {
  const held = await holdRow(runningStack().postgres, insert);
  const { child, ended } = startTool(words);
  await held.reached();
  child.kill('SIGKILL');
  expect((await ended).exit).toBeNull();
  await held.release();
  const working = `select count(*) from pg_stat_activity where state <> 'idle' and usename in ('identity_operator', 'catalog_feed')`;
  await expect.poll(() => count(working)).toBe(0);
}

test('an import of users goes on after kill -9 and tells of every rejected line', async () => {
  const file = join(work, 'users.ndjson');
  const hash = '$pbkdf2-sha256$i=1000$c2FsdC1zYWx0LXNhbHQ$DWT8Du+g/2Bw5cXLuVQux0TEtQMepd0g7TrEJhrxI5s';
  const users = Array.from({ length: 4_000 }, (_, at) =>
    at % 1000 === 10
      ? 'not JSON'
      : JSON.stringify({ sub: `kill-${at}`, email: `kill-${at}@example.com`, passwordHash: hash }),
  );
  writeFileSync(file, `${users.join('\n')}\n`);
  const imported = () => count("select count(*) from identity.users where sub like 'kill-%'");
  const late = `insert into identity.users (sub, email, password_hash) values ('kill-1501', 'late@example.com', '')`;
  await killHalfway(['user', 'import', file], late);
  const before = await imported();
  expect(before).toBeGreaterThan(0);
  expect(before).toBeLessThan(3_996);
  const { exit, out } = await tool('user', 'import', file, '--json');
  expect(exit).toBe(1);
  expect(JSON.parse(out)).toMatchObject({ lines: 4_000, rejected: 4 });
  expect(await imported()).toBe(3_996);
  const lines = readFileSync(`${file}.rejected`, 'utf8').trim().split('\n');
  expect(lines.map((line) => JSON.parse(line).line)).toEqual([11, 1011, 2011, 3011]);
  expect(JSON.parse((await tool('user', 'import', file, '--json')).out)).toMatchObject({ unchanged: 3_996 });
});

test('an import of designs goes on after kill -9, and the summaries are right', async () => {
  const file = join(work, 'designs.ndjson');
  // A user that no other test knows.
  const owner = 'kill-1';
  const rest = { revision: 1, title: 't', eventName: 'e' };
  const designs = Array.from({ length: 60_000 }, (_, at) =>
    JSON.stringify({ op: 'upsert', owner, id: `kill-${at}`, eventId: `kill-${at % 50}`, ...rest }),
  );
  writeFileSync(file, `${designs.join('\n')}\n`);
  const imported = () => count("select count(*) from catalog.designs where id like 'kill-%'");
  const late = `insert into catalog.designs (owner, id, event_id) values ('${owner}', 'kill-30000', 'late')`;
  await killHalfway(['designs', 'import', file], late);
  expect(await imported()).toBeLessThan(60_000);
  await answerOf('designs', 'import', file);
  expect(await imported()).toBe(60_000);
  expect((await answerOf('designs', 'verify')).differences).toEqual([]);
});
