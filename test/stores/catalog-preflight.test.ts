// The catalog's migration job: what --check finds, and what the job does in the races that it can be in.
import { migrate } from '@course-exchange/runtime/postgres/migrate';
import { newestMigration } from '@course-exchange/runtime/postgres/schema-version';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type JobDatabase, openJobDatabase, runJob } from './migration-jobs.ts';

const directory = new URL('../../services/design-catalog/migrations', import.meta.url).pathname;
const newest = newestMigration(directory);
let database: JobDatabase;
let whole: Record<string, string>;

beforeEach(async () => {
  database = await openJobDatabase();
  whole = database.settings('design-catalog');
});
afterEach(() => database.close());

const applied = () =>
  database.sql('select max(version) as version, count(*)::integer as rows from catalog.schema_migrations');

/** Holds what `statement` takes until the returned function is called. */
async function hold(statement: string): Promise<() => Promise<void>> {
  const client = new pg.Client(database.superuser);
  await client.connect();
  await client.query('begin');
  await client.query(statement);
  return () => client.end();
}

test('a whole installation passes before and after its migrations', async () => {
  const before = await runJob('design-catalog', whole, '--check');
  expect(before.code, before.output).toBe(0);
  expect(before.passed).toEqual(['postgres', 'roles', 'schema']);
  expect(await database.sql(`select from pg_namespace where nspname = 'catalog'`)).toEqual([]);
  expect((await runJob('design-catalog', whole)).code).toBe(0);
  expect((await runJob('design-catalog', whole, '--check')).passed).toEqual(['postgres', 'roles', 'schema']);
});

test('the reader must be read-only by its own setting, and the feed must not be left out unseen', async () => {
  await database.sql('alter role catalog_ro reset default_transaction_read_only');
  try {
    const { FEED_POSTGRES_URL: _, ...without } = whole;
    const ending = await runJob('design-catalog', without, '--check');
    expect(ending.code).toBe(1);
    expect(ending.said('check failed')).toEqual([
      `catalog_ro is not read-only by its own setting (default_transaction_read_only): run deploy/postgres/roles.sql in the database ${database.name}, as superuser or as its owner with CREATEROLE.`,
    ]);
    expect(ending.said('check skipped')).toEqual(['FEED_POSTGRES_URL is not set here.']);
  } finally {
    await database.sql('alter role catalog_ro set default_transaction_read_only = on');
  }
});

test('a schema that is newer than the image: a warning, and nothing is touched', async () => {
  expect((await runJob('design-catalog', whole)).code).toBe(0);
  await database.sql(`insert into catalog.schema_migrations (version) values (${newest + 1})`);
  const before = await applied();
  for (const words of [['--check'], []]) {
    const ending = await runJob('design-catalog', whole, ...words);
    expect(ending.code, ending.output).toBe(0);
    expect(ending.said('check warns')).toEqual([
      `The schema catalog has version ${newest + 1} and this image knows ${newest}: it stays as it is; go on only if you mean to run the older version.`,
    ]);
  }
  expect(await applied()).toEqual(before);
});

test('another job that migrates for more than 10 s: it says so, and changes nothing', async () => {
  const release = await hold(`select pg_advisory_lock(hashtext('migrate catalog'))`);
  try {
    const { code, output } = await runJob('design-catalog', whole);
    expect(code).toBe(1);
    expect(output).toContain('another job is migrating this schema for 10 s: wait until it ends');
  } finally {
    await release();
  }
  expect((await runJob('design-catalog', whole)).code).toBe(0);
});

test('a table that is locked for 10 s: the migration is named and undone, and the next try does it', async () => {
  await migrate(database.as('catalog_migrator'), 'catalog', directory, 0);
  // Another session is about to make the table that the first migration makes.
  const release = await hold('create table catalog.designs (id text)');
  try {
    const { code, output } = await runJob('design-catalog', whole);
    expect(code).toBe(1);
    expect(output).toContain('"message":"a table was locked for 10 s');
    expect(output).toContain('"migration":"catalog 1"');
    expect(await applied()).toEqual([{ version: null, rows: 0 }]);
  } finally {
    await release();
  }
  expect((await runJob('design-catalog', whole)).code).toBe(0);
  expect(await applied()).toEqual([{ version: newest, rows: newest }]);
});
