// What the migration job does with one migration after another: no version is skipped, and an index on a filled table
// blocks no statement (decision 0019).
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '@course-exchange/runtime/postgres/migrate';
import { expect, onTestFinished, test } from 'vitest';
import { openJobDatabase, withClient } from '../../../../test/stores/postgres.ts';

const files = {
  '0001-visits.sql': 'create table visits (place text not null);',
  '0002-time.sql': '-- after 0001\nalter table visits add column at timestamptz;',
  '0003-index.sql':
    '-- Visits are found by place.\n-- after 0002\ncreate index concurrently visits_place on visits (place);',
};

async function installation() {
  const directory = mkdtempSync(join(tmpdir(), 'course-exchange-'));
  for (const [name, sql] of Object.entries(files)) writeFileSync(join(directory, name), sql);
  const database = await openJobDatabase();
  onTestFinished(async () => {
    rmSync(directory, { recursive: true });
    await database.close();
  });
  const connection = { connectionString: database.as('identity_migrator'), lock_timeout: 300 };
  return {
    database,
    upTo: (through?: number) => migrate(connection, 'identity', directory, through),
    indexes: () =>
      database.sql(
        `select relname, indisvalid from pg_index join pg_class on pg_class.oid = indexrelid
          where relnamespace = 'identity'::regnamespace and indrelid = 'identity.visits'::regclass`,
      ),
  };
}

test('an upgrade that skips a version is refused and changes nothing; a new installation takes them all', async () => {
  const { upTo } = await installation();
  expect(await upTo(1)).toEqual([1]);
  await expect(upTo()).rejects.toThrow(
    'this upgrade skips a version: install the one whose newest identity migration is 2 first',
  );
  expect(await upTo(2)).toEqual([2]);
  expect(await upTo()).toEqual([3]);
  const fresh = await installation();
  expect(await fresh.upTo()).toEqual([1, 2, 3]);
});

test('an installation that was interrupted goes on, also from an index that was made and not recorded', async () => {
  const { database, upTo, indexes } = await installation();
  await upTo(1);
  await withClient(database.as('identity_migrator'), (client) =>
    client.query(
      `insert into identity.schema_migrations (version) values (0);
       create index visits_place on identity.visits (place)`,
    ),
  );
  expect(await upTo()).toEqual([2, 3]);
  expect(await indexes()).toEqual([{ relname: 'visits_place', indisvalid: true }]);
  expect(await database.sql('select version from identity.schema_migrations order by 1')).toEqual(
    [1, 2, 3].map((version) => ({ version })),
  );
});

test('an index is created while others write, and again where a job before gave up', async () => {
  const { database, upTo, indexes } = await installation();
  await upTo(2);
  await withClient(database.superuser, async (writer) => {
    await writer.query("begin; insert into identity.visits (place) values ('yard')");
    await expect(upTo()).rejects.toThrow('a table was locked');
    expect(await indexes()).toEqual([{ relname: 'visits_place', indisvalid: false }]);
    await writer.query("insert into identity.visits (place) values ('barn'); commit");
  });
  expect(await upTo()).toEqual([3]);
  expect(await indexes()).toEqual([{ relname: 'visits_place', indisvalid: true }]);
});
