// What role catalog_feed may do, what role catalog_ro still may not, and how a verification finds and repairs.
import { createLogger } from '@course-exchange/runtime/process/logger';
import { beforeEach, expect, test } from 'vitest';
import { apply, changes, differences, origin } from '../../../../test/stores/feed-changes.ts';
import { useCatalogDatabase } from '../../../../test/stores/postgres.ts';
import { verifySummaries } from './feed.ts';

const catalog = await useCatalogDatabase();

beforeEach(() => catalog.writer.query('truncate designs'));

const insufficientPrivilege = { code: '42501' };

test.each([
  'delete from designs',
  'truncate designs',
  'insert into event_summaries (owner, event_id) values ($$u$$, $$e$$)',
  'update event_summaries set design_count = 1',
  'delete from event_summaries',
  'update schema_migrations set version = 9',
  'update audit_log set actor = actor',
  'delete from audit_log',
  'truncate audit_log',
  'create table mine (id integer)',
  'alter table designs disable trigger all',
  'select change_summaries(array[$$u$$], array[$$e$$], array[1])',
])('the feed may not: %s', async (text) => {
  await expect(catalog.feed.query({ name: `feed: ${text.slice(0, 40)}`, text }, [])).rejects.toMatchObject(
    insufficientPrivilege,
  );
});

function verify(repair: boolean) {
  const deps = {
    database: catalog.feed,
    logger: createLogger('test', 'error'),
    now: () => Date.parse(origin.at),
  };
  return Array.fromAsync(verifySummaries(deps, repair ? origin : undefined, 2));
}

test('a verification counts every owner once and finds nothing wrong', async () => {
  const owners = ['a', 'b', 'c', 'd', 'e'];
  await apply(
    catalog,
    changes(...owners.flatMap((owner) => ['1', '2'].map((id) => ({ owner, id, revision: 1 })))),
  );
  const parts = await verify(false);
  expect(parts.map(({ owners: counted, events }) => [counted, events])).toEqual([
    [2, 2],
    [2, 2],
    [1, 1],
  ]);
  expect(parts.flatMap((part) => part.differences)).toEqual([]);
});

/** As a version of event_json would have left it that wrote another text. */
async function writeOtherJson(eventId: string): Promise<void> {
  const { rows } = await catalog.writer.query<{ definition: string }>(
    `select pg_get_functiondef('event_json'::regproc) as definition`,
  );
  await catalog.writer.query(`
    create or replace function event_json(event_id text, name text, start_date timestamptz, end_date timestamptz,
      updated_at timestamptz, design_count integer) returns text language sql immutable return '{}';
    update event_summaries set name = name where event_id = '${eventId}';
    ${rows[0]?.definition}`);
}

test('it finds wrong, missing and surplus summaries, and repairs them when asked to', async () => {
  const events = ['right', 'wrong', 'missing', 'name', 'json'];
  await apply(catalog, changes(...events.map((eventId) => ({ id: eventId, eventId, revision: 1 }))));
  await catalog.writer.query(`
    update event_summaries set design_count = 9 where event_id = 'wrong';
    update event_summaries set name = 'other' where event_id = 'name';
    delete from event_summaries where event_id = 'missing';
    insert into event_summaries (owner, event_id, design_count) values ('z', 'surplus', 3)`);
  await writeOtherJson('json');
  const found = [
    { owner: 'u', eventId: 'json', summarised: 1, counted: 1 },
    { owner: 'u', eventId: 'missing', summarised: null, counted: 1 },
    { owner: 'u', eventId: 'name', summarised: 1, counted: 1 },
    { owner: 'u', eventId: 'wrong', summarised: 9, counted: 1 },
    { owner: 'z', eventId: 'surplus', summarised: 3, counted: null },
  ];
  expect((await verify(false)).flatMap((part) => part.differences)).toEqual(found);
  expect(await differences(catalog.writer)).not.toEqual([]);
  expect((await verify(true)).flatMap((part) => part.differences)).toEqual(found);
  expect((await verify(false)).flatMap((part) => part.differences)).toEqual([]);
  expect(await differences(catalog.writer)).toEqual([]);
});
