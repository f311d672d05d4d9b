// What role catalog_feed may do, what role catalog_ro still may not, and how a verification finds and mends.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { verifySummaries } from '../../services/design-catalog/src/feed/verify-summaries.ts';
import {
  mendSummaries,
  recountEvents,
  type SummaryDifference,
} from '../../services/design-catalog/src/store/summary-recount.ts';
import { type CatalogDatabase, differences, openCatalogDatabase } from './catalog-database.ts';
import { apply, changes, origin } from './feed-changes.ts';

let catalog: CatalogDatabase;

beforeAll(async () => {
  catalog = await openCatalogDatabase();
});
afterAll(() => catalog.close());
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

test.each([
  'select * from resume_points',
  'select * from audit_log',
  'select summarise_events(array[$$u$$], array[$$e$$])',
])('the public reads may not: %s', async (text) => {
  await expect(catalog.reader.query({ name: text, text }, [])).rejects.toMatchObject(insufficientPrivilege);
});

async function verify(repair: boolean) {
  const uses = {
    recount: (owner: string) => recountEvents(catalog.feed, owner, 2),
    mend: repair
      ? (found: readonly SummaryDifference[]) => mendSummaries(catalog.feed, found, origin)
      : undefined,
  };
  return Array.fromAsync(verifySummaries(uses));
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

test('it finds a wrong, a missing and a surplus summary, and mends them when asked to', async () => {
  const events = ['right', 'wrong', 'missing', 'name'];
  await apply(catalog, changes(...events.map((eventId) => ({ id: eventId, eventId, revision: 1 }))));
  await catalog.writer.query(`
    update event_summaries set design_count = 9 where event_id = 'wrong';
    update event_summaries set name = 'other' where event_id = 'name';
    delete from event_summaries where event_id = 'missing';
    insert into event_summaries (owner, event_id, design_count) values ('z', 'surplus', 3)`);
  const found = [
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
