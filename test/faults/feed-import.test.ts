// An import of designs whose service or store is killed in the middle goes on by itself, and loses and repeats nothing. A tool
// that is killed: test/operator/interruption.test.ts. Changes, deletions and repeats: services/design-catalog/src/feed/change-table.stores.test.ts.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { holdRow, startTool } from '../operator/tool.ts';
import { type System, startSystem } from '../support/system.ts';

const designs = 60_000;
let directory: string;
let system: System;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'feed-import-'));
  system = await startSystem();
});
afterAll(async () => {
  await system?.stop();
  rmSync(directory, { recursive: true });
});

function runTool(...words: readonly string[]) {
  const { PATH = '', HOME = '/' } = process.env;
  const address = system.stack.operator?.catalog ?? '';
  return startTool(['designs', ...words, '--json', '--catalog', address], { PATH, HOME }).ended;
}

function writeDesigns(owner: string): string {
  const file = join(directory, `${owner}.ndjson`);
  const lines = Array.from({ length: designs }, (_, at) =>
    JSON.stringify({
      op: 'upsert',
      owner,
      id: `d${at}`,
      revision: 1,
      eventId: `e${at % 50}`,
      eventName: 'e',
    }),
  );
  writeFileSync(file, ['{not JSON', ...lines, ''].join('\n'));
  return file;
}

test.each(['design-catalog', 'postgres'] as const)('%s is killed: the import goes on', async (part) => {
  const owner = `import-${part}`;
  const file = writeDesigns(owner);
  const late = `insert into catalog.designs (owner, id, event_id) values ('${owner}', 'd${designs / 2}', 'late')`;
  const held = await holdRow(system.stack.postgres, late);
  const ended = runTool('import', file);
  await held.reached();
  await system.kill(part);
  await held.release();
  await system.start(part);
  // For the line that is no design.
  expect((await ended).exit).toBe(1);
  const database = new pg.Client(system.stack.postgres);
  await database.connect();
  const count = async (sql: string) => Number((await database.query(sql)).rows[0]?.count);
  expect(await count(`select count(*) from catalog.designs where owner = '${owner}'`)).toBe(designs);
  expect(await count('select count(*) from catalog.resume_points')).toBe(0);
  await database.end();
  expect(readFileSync(`${file}.rejected`, 'utf8').trim().split('\n')).toHaveLength(1);
  expect(JSON.parse((await runTool('verify')).out)).toMatchObject({ differences: [] });
});
