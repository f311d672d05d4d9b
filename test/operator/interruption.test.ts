// kill -9 in the middle of imports: said again, the same line comes to the same end.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runningStack } from '../support/running-stack.ts';
import { answerOf, startTool, tool } from './tool.ts';

const work = mkdtempSync(join(tmpdir(), 'partnerctl-interruption-'));
const database = new pg.Client(runningStack().postgres);
/** Holds back what is to be cut off: a tool that is quicker than its test would be done before it is killed. */
const blocker = new pg.Client(runningStack().postgres);

beforeAll(async () => {
  await database.connect();
  await blocker.connect();
});
afterAll(async () => {
  await Promise.all([database.end(), blocker.end()]);
  rmSync(work, { recursive: true });
});

async function count(sql: string): Promise<number> {
  const { rows } = await database.query<{ count: string }>(sql);
  return Number(rows[0]?.count);
}

/** Kills the command with SIGKILL once `begun` holds. */
async function killOnce(words: readonly string[], begun: () => Promise<boolean>): Promise<void> {
  const { child, ended } = startTool(words);
  while (child.exitCode === null && !(await begun())) await sleep(5);
  child.kill('SIGKILL');
  expect((await ended).exit).toBeNull();
}

/** The same of an import that comes no further than a row that `insert` makes first, and what the service was at is over. */
async function killHalfway(words: readonly string[], insert: string, imported: () => Promise<number>) {
  // Without the work of triggers, which would hold back the batches before.
  await blocker.query(`begin; set local session_replication_role = replica; ${insert}`);
  await killOnce(words, async () => (await imported()) > 0);
  await blocker.query('rollback');
  const working = `select count(*) from pg_stat_activity where state <> 'idle' and usename in ('identity_operator', 'catalog_feed')`;
  await expect.poll(() => count(working)).toBe(0);
}

test('an import of users goes on after kill -9 and tells of every rejected line', async () => {
  const file = join(work, 'users.ndjson');
  const hash = '$pbkdf2-sha256$i=1000$c2FsdC1zYWx0LXNhbHQ$DWT8Du+g/2Bw5cXLuVQux0TEtQMepd0g7TrEJhrxI5s';
  const users = Array.from({ length: 12_000 }, (_, at) =>
    at % 3000 === 10
      ? 'not JSON'
      : JSON.stringify({ sub: `kill-${at}`, email: `kill-${at}@example.com`, passwordHash: hash }),
  );
  writeFileSync(file, `${users.join('\n')}\n`);
  const imported = () => count("select count(*) from identity.users where sub like 'kill-%'");
  const late = `insert into identity.users (sub, email, password_hash) values ('kill-6001', 'late@example.com', '')`;
  await killHalfway(['user', 'import', file], late, imported);
  const before = await imported();
  expect(before).toBeGreaterThan(0);
  expect(before).toBeLessThan(11_996);
  const { exit, out } = await tool('user', 'import', file, '--json');
  expect(exit).toBe(1);
  expect(JSON.parse(out)).toMatchObject({ lines: 12_000, rejected: 4 });
  expect(await imported()).toBe(11_996);
  const lines = readFileSync(`${file}.rejected`, 'utf8').trim().split('\n');
  expect(lines.map((line) => (JSON.parse(line) as { readonly line: number }).line)).toEqual([
    11, 3011, 6011, 9011,
  ]);
  expect(existsSync(`${file}.import`)).toBe(false);
  expect(JSON.parse((await tool('user', 'import', file, '--json')).out)).toMatchObject({ unchanged: 11_996 });
});

test('an import of designs goes on after kill -9, and the summaries are right', async () => {
  const file = join(work, 'designs.ndjson');
  // Nobody whom other tests know.
  const owner = 'kill-1';
  const designs = Array.from({ length: 60_000 }, (_, at) =>
    JSON.stringify({
      op: 'upsert',
      owner,
      id: `kill-${at}`,
      revision: 1,
      eventId: `kill-${at % 50}`,
      title: 't',
      eventName: 'e',
    }),
  );
  writeFileSync(file, `${designs.join('\n')}\n`);
  const imported = () => count("select count(*) from catalog.designs where id like 'kill-%'");
  const late = `insert into catalog.designs (owner, id, event_id) values ('${owner}', 'kill-30000', 'late')`;
  await killHalfway(['designs', 'import', file], late, imported);
  expect(await imported()).toBeLessThan(60_000);
  await answerOf('designs', 'import', file);
  expect(await imported()).toBe(60_000);
  expect((await answerOf('designs', 'verify')).differences).toEqual([]);
});

test('two operators who rotate at once begin one rotation', async () => {
  await Promise.all([tool('key', 'rotate', '--step'), tool('key', 'rotate', '--step')]);
  const { keys } = await answerOf('key', 'list');
  const staged = (keys as Record<string, string>[]).filter(({ state }) => state === 'staged');
  expect(staged.map(({ algorithm }) => algorithm).sort()).toEqual(['ES256', 'RS256']);
  const [{ kid = '' } = {}] = staged;
  const early = await tool('key', 'activate', kid);
  expect(early.exit).toBe(6);
  expect(early.err).toMatch(/Possible from \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC on\./);
  // Others who use this stack find no rotation under way.
  for (const { kid = '' } of staged) await answerOf('key', 'retire', kid, '--yes');
});

test('kill -9 of an apply leaves all of it or nothing', async () => {
  const file = join(work, 'clients.yaml');
  const clients = Array.from({ length: 50 }, (_, at) => ({
    clientId: `kill-${at}`,
    name: 'Kill',
    redirectUris: ['https://kill.example/callback'],
    scopes: ['openid'],
  }));
  writeFileSync(file, JSON.stringify({ clients }));
  const registered = () => count("select count(*) from identity.clients where client_id like 'kill-%'");
  // Keeps its transaction open until the tool is dead.
  await blocker.query('begin; lock table identity.clients in share mode');
  const waits = async () => (await count('select count(*) from pg_locks where not granted')) > 0;
  await killOnce(['client', 'apply', file, '--yes'], waits);
  await blocker.query('rollback');
  expect([0, 50]).toContain(await registered());
  await answerOf('client', 'apply', file, '--yes');
  expect(await registered()).toBe(50);
  expect((await tool('client', 'plan', file, '--check')).exit).toBe(0);
});
