import { createLogger } from '@course-exchange/runtime/logger';
import { openDatabase } from '@course-exchange/runtime/postgres';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Owner, StoredEventId } from '../../services/design-catalog/src/domain/ids.ts';
import { designsOfEvent, findEventWithDesigns } from '../../services/design-catalog/src/store/designs.ts';
import { eventsOfOwner, listEvents } from '../../services/design-catalog/src/store/event-summaries.ts';
import { schemaProblem } from '../../services/design-catalog/src/store/schema-version.ts';
import { type CatalogDatabase, openCatalogDatabase } from './catalog-database.ts';

let catalog: CatalogDatabase;
const owner = (name: string) => name as Owner;
const stored = (id: string) => id as StoredEventId;

beforeAll(async () => {
  catalog = await openCatalogDatabase();
  await catalog.writer.query(`
    insert into designs (owner, id, event_id, event_name, updated_at, event_date)
      select 'big', 'd' || g, 'e' || g % 500, 'Show', timestamptz '2026-01-01Z' + g * interval '1 s',
        timestamptz '2026-01-01Z' + g % 400 * interval '1 day'
      from generate_series(1, 25000) g;
    insert into designs (owner, id, event_id, event_name, updated_at)
      select 'many', lpad(g::text, 4, '0'), 'one', 'Show ' || g,
        case when g <= 700 then timestamptz '2026-01-01Z' + g / 2 * interval '1 s' end
      from generate_series(1, 730) g;
    insert into designs (owner, id, event_id) values ('nulls', 'd', 'Größe / 😀');
    insert into designs (owner, id, event_id, deleted_at) values ('gone', 'd', 'one', now());
    analyze`);
});
afterAll(() => catalog.close());

test('at most 500: the most recently updated, then by id, beside the true count [R22.4 R23.1]', async () => {
  const found = await findEventWithDesigns(catalog.reader, owner('many'), stored('one'));
  expect(found?.event).toMatchObject({ designCount: 730, name: 'Show 700' });
  expect(found?.designs).toHaveLength(500);
  expect(found?.designs.slice(0, 4).map(({ id }) => id)).toEqual(['0700', '0698', '0699', '0696']);
});

test('absent values are undefined, texts are empty, times are ISO [R23.2 R23.3 R23.4]', async () => {
  const found = await findEventWithDesigns(catalog.reader, owner('nulls'), stored('Größe / 😀'));
  const texts = { title: '', eventName: '', shortDescr: '' };
  const absent = { localId: undefined, eventDate: undefined, updatedAt: undefined, authorName: undefined };
  expect(found?.designs).toEqual([{ id: 'd', ...texts, ...absent }]);
  expect(found?.event).toMatchObject({ startDate: undefined, endDate: undefined, updatedAt: undefined });
  const [first] = await listEvents(catalog.reader, owner('big'));
  expect(first?.updatedAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

test('the event of the list is the event of its designs', async () => {
  const events = await listEvents(catalog.reader, owner('big'));
  expect(events).toHaveLength(500);
  const [first] = events;
  const found = await findEventWithDesigns(catalog.reader, owner('big'), first?.eventId ?? stored(''));
  expect(found?.event).toEqual(first);
});

test('foreign, nonexistent and deleted events are not found, by one and the same query [R24.2]', async () => {
  for (const [name, id] of [
    ['nulls', 'one'],
    ['many', 'two'],
    ['gone', 'one'],
    ['nobody', 'one'],
  ] as const)
    expect(await findEventWithDesigns(catalog.reader, owner(name), stored(id))).toBeUndefined();
  expect(await listEvents(catalog.reader, owner('gone'))).toEqual([]);
});

async function planOf(text: string, values: readonly string[]): Promise<string> {
  const { rows } = await catalog.writer.query<{ 'QUERY PLAN': string }>(`explain ${text}`, [...values]);
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}

test('the events are read from the summaries alone, without grouping', async () => {
  const plan = await planOf(eventsOfOwner.text, ['nulls']);
  expect(plan).toContain('event_summaries_pkey');
  expect(plan).not.toMatch(/Aggregate| designs/);
});

test('the 500 are read in the order of their index, without sorting or grouping', async () => {
  const plan = await planOf(designsOfEvent.text, ['many', 'one']);
  expect(plan).toContain('event_summaries_pkey');
  expect(plan).toContain('using designs_by_event');
  expect(plan).not.toMatch(/Sort|Aggregate|Seq Scan/);
});

test('the service can read and nothing else', async () => {
  const client = new pg.Client({ connectionString: catalog.readerUrl, options: '-c search_path=catalog' });
  await client.connect();
  await client.query('set default_transaction_read_only = off');
  for (const statement of [
    `insert into designs (owner, id) values ('u', 'x')`,
    `update designs set title = 'x'`,
    'delete from event_summaries',
    'truncate designs',
    `select summarise_events(array['u'], array['e'])`,
    'create table catalog.mine (id text)',
    'delete from schema_migrations',
  ])
    await expect(client.query(statement)).rejects.toMatchObject({ code: '42501' });
  await client.end();
  const write = { name: 'write', text: `insert into designs (owner, id) values ('u', 'x')` };
  await expect(catalog.reader.query(write, [])).rejects.toThrow();
});

test('readiness tells an old schema, a missing one and a silent Postgres apart', async () => {
  expect(await schemaProblem(catalog.reader, 1)).toBeUndefined();
  expect(await schemaProblem(catalog.reader, 999)).toContain('version 999');
  expect(await problemAt(catalog.readerUrl, 'elsewhere')).toContain('migrations');
  expect(await problemAt('postgres://u:p@127.0.0.1:1/none', 'catalog')).toBe('Postgres does not answer');
});

async function problemAt(url: string, schema: string): Promise<string | undefined> {
  const database = openDatabase({
    url,
    applicationName: 'catalog test',
    poolSize: 1,
    statementTimeoutMs: 1_000,
    schema,
    logger: createLogger('test', 'error'),
  });
  const problem = await schemaProblem(database, 1);
  await database.close();
  return problem;
}
