// Which connections a pool keeps after a transaction that failed.
import { createLogger } from '@course-exchange/runtime/logger';
import { type Database, openDatabase, type Queries } from '@course-exchange/runtime/postgres';
import { afterAll, expect, test } from 'vitest';

const database: Database = openDatabase({
  url: process.env.TEST_POSTGRES_URL ?? '',
  applicationName: 'transactions',
  statementTimeoutMs: 1_000,
  schema: 'public',
  poolSize: 1,
  logger: createLogger('test', 'error', () => {}),
});
afterAll(() => database.close());

const run = (text: string) => (queries: Queries) => queries.query({ name: text, text }, []);
const backend = async () => (await database.transaction(run('select pg_backend_pid() as pid')))[0];

/** As a server that was demoted or fenced off answers. */
const writeToStandby = (): Promise<unknown> =>
  database.transaction(async (queries) => {
    await run('set transaction read only')(queries);
    await run('create table never_made ()')(queries);
  });

test('a connection whose server has become read-only is dropped, and the caller told that Postgres is away [R14.1]', async () => {
  const before = await backend();
  await expect(writeToStandby()).rejects.toMatchObject({ code: 'temporarily_unavailable' });
  expect(await backend()).not.toEqual(before);
});

test('a connection whose statement was wrong is kept', async () => {
  const before = await backend();
  await expect(database.transaction(run('select 1 / 0'))).rejects.toMatchObject({ code: '22012' });
  expect(await backend()).toEqual(before);
});
