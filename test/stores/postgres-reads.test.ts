// Reads of many requests over one connection: their answers are told apart, and whatever happens to the
// connection is over with the next read (R14).
import { randomUUID } from 'node:crypto';
import { createLogger } from '@course-exchange/runtime/logger';
import { openReads, type PipelinedReads } from '@course-exchange/runtime/postgres-reads';
import pg from 'pg';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';

const url = process.env.TEST_POSTGRES_URL ?? '';
const administrator = new pg.Pool({ connectionString: url, max: 1 });
afterAll(() => administrator.end());

let applicationName: string;
let reads: PipelinedReads;
beforeEach(() => {
  applicationName = `reads ${randomUUID()}`;
  reads = openAt(url);
});
afterEach(() => reads.close());

function openAt(address: string): PipelinedReads {
  return openReads({
    url: address,
    applicationName,
    statementTimeoutMs: 400,
    readOnly: true,
    schema: 'public',
    logger: createLogger('test', 'error', () => {}),
  });
}

const echo = { name: 'echo', text: 'select $1::int as value' };
const divide = { name: 'divide', text: 'select 1 / $1::int as value' };
const sleep = { name: 'sleep', text: 'select pg_sleep($1)' };

async function echoOf(value: number): Promise<number | undefined> {
  return (await reads.query<{ value: number }>(echo, [value]))[0]?.value;
}

async function backends(): Promise<number[]> {
  const sql = 'select pid from pg_stat_activity where application_name = $1';
  return (await administrator.query<{ pid: number }>(sql, [applicationName])).rows.map(({ pid }) => pid);
}

test('a hundred reads at once share one connection, and each gets its own answer', async () => {
  const values = Array.from({ length: 100 }, (_, index) => index);
  expect(await Promise.all(values.map(echoOf))).toEqual(values);
  expect(await backends()).toHaveLength(1);
});

test('a statement that fails harms none of those around it', async () => {
  const [before, failed, after] = await Promise.allSettled([echoOf(1), reads.query(divide, [0]), echoOf(2)]);
  expect(failed).toMatchObject({ status: 'rejected', reason: { code: '22012' } });
  expect([before, after]).toMatchObject([{ value: 1 }, { value: 2 }]);
});

test('nothing is written over it', async () => {
  await expect(reads.query({ name: 'write', text: 'create table t ()' }, [])).rejects.toThrow();
});

test('a read whose backend is killed is temporarily unavailable, and the next one connects again', async () => {
  await echoOf(1);
  const waiting = reads.query(sleep, [5]);
  const refused = expect(waiting).rejects.toMatchObject({ code: 'temporarily_unavailable' });
  await administrator.query('select pg_terminate_backend($1)', [(await backends())[0]]);
  await refused;
  expect(await echoOf(2)).toBe(2);
});

test('a connection that was closed while nobody read is replaced unnoticed', async () => {
  await echoOf(1);
  await administrator.query('select pg_terminate_backend($1, 1000)', [(await backends())[0]]);
  expect(await echoOf(2)).toBe(2);
});

test('a read that takes too long is temporarily unavailable, and those behind it go on', async () => {
  const slow = expect(reads.query(sleep, [5])).rejects.toMatchObject({ code: 'temporarily_unavailable' });
  expect(await echoOf(3)).toBe(3);
  await slow;
});

test('without Postgres each read is temporarily unavailable', async () => {
  const away = openAt('postgres://u:p@127.0.0.1:1/none');
  await expect(away.query(echo, [1])).rejects.toMatchObject({ code: 'temporarily_unavailable' });
  await expect(away.query(echo, [1])).rejects.toMatchObject({ code: 'temporarily_unavailable' });
  await away.close();
});
