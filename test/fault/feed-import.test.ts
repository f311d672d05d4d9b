// An import of designs that is ended in the middle, by whatever, and repeated: the same designs, the same exact
// summaries, the same rejected lines as without the interruption.
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type System, startSystem } from '../support/system.ts';
import { ended, killed, startTool } from './tool.ts';

const directory = mkdtempSync(join(tmpdir(), 'feed-import-'));
const file = join(directory, 'designs.ndjson');
const lines = 80_000;
let system: System;
let expected: Outcome;

/** Every third design is changed later, every ninth deleted; now and then a line is wrong. */
function line(number: number): string {
  if (number % 20_011 === 7) return '{"op":"upsert","owner":"u","id":"broken"}';
  const design = number % 50_000;
  const key = { owner: `import-${design % 200}`, id: `d${design}`, revision: number };
  if (number > 50_000 && design % 9 === 0)
    return JSON.stringify({ op: 'delete', ...key, deletedAt: '2026-06-01T00:00:00Z' });
  const updatedAt = design % 5 ? `2026-05-0${1 + (number % 9)}T00:00:00Z` : null;
  return JSON.stringify({
    op: 'upsert',
    ...key,
    eventId: `e${design % 7}`,
    eventName: `n${number}`,
    updatedAt,
  });
}

interface Outcome {
  readonly designs: string;
  readonly summaries: string;
  readonly resumePoints: number;
  readonly rejected: string;
}

beforeAll(async () => {
  writeFileSync(file, Array.from({ length: lines }, (_, index) => `${line(index + 1)}\n`).join(''));
  system = await startSystem();
  await withDatabase((client) => client.query('truncate designs'));
  expect(await ended(startImport())).toBe(1);
  expected = await outcome();
}, 120_000);
afterAll(async () => {
  await system?.stop();
  rmSync(directory, { recursive: true });
});
beforeEach(clear);

async function clear(): Promise<void> {
  await withDatabase((client) => client.query('truncate designs; delete from resume_points'));
  rmSync(`${file}.rejected`, { force: true });
}

async function withDatabase<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    connectionString: system.stack.postgres,
    options: '-c search_path=catalog -c timezone=UTC',
  });
  client.on('error', () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function outcome(): Promise<Outcome> {
  const tables = await withDatabase(async (client) => {
    const { rows } = await client.query(`
      select (select md5(string_agg(d::text, '' order by owner, id)) from designs d) as designs,
        (select md5(string_agg(s::text, '' order by owner, event_id)) from event_summaries s) as summaries,
        (select count(*)::integer from resume_points) as "resumePoints"`);
    return rows[0];
  });
  return { ...tables, rejected: readFileSync(`${file}.rejected`, 'utf8') };
}

function startImport(): ChildProcess {
  const address = system.stack.operator?.catalog ?? '';
  return startTool('designs', 'import', file, '--json', '--catalog', address);
}

/** An import of which some batches are committed, and not all. On a busy machine one may end before it is looked at. */
async function importMidway(): Promise<ChildProcess> {
  for (let tries = 1; tries <= 5; tries += 1) {
    await clear();
    const child = startImport();
    if (await isMidway(child)) return child;
  }
  throw new Error('Five imports ended before they could be interrupted.');
}

async function isMidway(child: ChildProcess): Promise<boolean> {
  return withDatabase(async (client) => {
    for (; child.exitCode === null; await sleep(5)) {
      const { rows } = await client.query('select position from resume_points where position >= 20000');
      if (rows.length > 0) return true;
    }
    expect(child.exitCode).toBe(1);
    return false;
  });
}

test('the uninterrupted import puts the wrong lines aside with number and reason', () => {
  const rejected = expected.rejected
    .trim()
    .split('\n')
    .map((entry) => JSON.parse(entry));
  expect(rejected).toMatchObject([
    { line: 7, reason: 'revision is missing: it is a whole number, 1 or more.' },
    { line: 20_018 },
    { line: 40_029 },
    { line: 60_040 },
  ]);
  expect(expected.resumePoints).toBe(0);
});

test('the tool is killed and the import repeated', async () => {
  const first = await importMidway();
  await killed(first);
  expect(await ended(startImport())).toBe(1);
  expect(await outcome()).toEqual(expected);
});

test.each(['design-catalog', 'postgres'] as const)(
  '%s is killed: the import goes on by itself when it is back',
  async (part) => {
    const running = await importMidway();
    await system.kill(part);
    await system.start(part);
    expect(await ended(running)).toBe(1);
    expect(await outcome()).toEqual(expected);
  },
);

test('two imports of the same file at once leave what one leaves', async () => {
  const both = [startImport(), startImport()];
  expect(await Promise.all(both.map(ended))).toEqual([1, 1]);
  const { designs, summaries, rejected } = await outcome();
  expect({ designs, summaries }).toEqual({ designs: expected.designs, summaries: expected.summaries });
  expect(rejected.split('\n').length).toBeGreaterThan(0);
});

test('an import that is complete changes nothing when it is repeated', async () => {
  expect(await ended(startImport())).toBe(1);
  expect(await ended(startImport())).toBe(1);
  expect(await outcome()).toEqual(expected);
});
