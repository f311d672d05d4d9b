import { openDatabase } from '@course-exchange/runtime/postgres/pool';
import { schemaProblem } from '@course-exchange/runtime/postgres/schema-version';
import { createLogger } from '@course-exchange/runtime/process/logger';
import { beforeAll, expect, test } from 'vitest';
import { patient, useCatalogDatabase, withClient } from '../../../../test/stores/postgres.ts';
import type { Owner, StoredEventId } from './event.ts';
import { designsOfEvent, eventsOfOwner, findEventWithDesigns, listEvents } from './event-table.ts';

const catalog = await useCatalogDatabase();
const owner = (name: string) => name as Owner;
const stored = (id: string) => id as StoredEventId;

beforeAll(async () => {
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
    insert into designs (owner, id, event_id) values ('Many', 'd', 'one'), ('manya', 'd', 'two');
    insert into designs (owner, id, event_id, deleted_at) values ('manya', 'deleted', 'two', now());
    analyze`);
});

interface Event {
  readonly id: string;
  readonly name: string;
  readonly updatedAt: string | null;
}

async function eventsOf(name: string): Promise<readonly Event[]> {
  const { json } = await listEvents(catalog.reader, owner(name));
  return (JSON.parse(json) as { items: Event[] }).items;
}

async function designsOf(name: string, id: string) {
  const found = await findEventWithDesigns(catalog.reader, owner(name), stored(id));
  return JSON.parse(found?.json ?? 'null') as { event: Event; items: Record<string, unknown>[] };
}

test('an absent text is empty, by the default of its column [R23.3 R23.4]', async () => {
  const { event, items } = await designsOf('nulls', 'Größe / 😀');
  expect(event.name).toBe('');
  expect(items).toMatchObject([{ title: '', eventName: '', shortDescr: '' }]);
});

test('foreign, nonexistent and deleted events are not found, by one and the same query [R24.2]', async () => {
  for (const [name, id] of [
    ['nulls', 'one'],
    ['many', 'two'],
    ['gone', 'one'],
    ['nobody', 'one'],
  ] as const)
    expect(await findEventWithDesigns(catalog.reader, owner(name), stored(id))).toBeUndefined();
  expect(await listEvents(catalog.reader, owner('gone'))).toEqual({ events: 0, json: '{"items":[]}' });
});

test('an owner is a whole text: one in other letters, or longer, is another [R22.1]', async () => {
  for (const [name, id] of [
    ['Many', 'one'],
    ['manya', 'two'],
  ] as const) {
    expect(await eventsOf(name)).toEqual([expect.objectContaining({ designCount: 1 })]);
    expect((await designsOf(name, id)).items).toContainEqual(expect.objectContaining({ id: 'd' }));
    expect((await designsOf(name, id)).event).toMatchObject({ designCount: 1 });
  }
  expect(await eventsOf('many')).toHaveLength(1);
  expect((await listEvents(catalog.reader, owner('big'))).events).toBe(500);
});

async function planOf(text: string, values: readonly string[]): Promise<string> {
  const { rows } = await catalog.writer.query<{ 'QUERY PLAN': string }>(`explain ${text}`, [...values]);
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}

test('the events are read from the summaries alone, without grouping', async () => {
  const plan = await planOf(eventsOfOwner.text, ['nulls']);
  expect(plan).toContain('event_summaries_pkey');
  // The one aggregate joins the texts.
  expect(plan).not.toMatch(/Group|HashAggregate|Seq Scan| designs/);
});

test('the 500 are read in the order of their index, without sorting or grouping', async () => {
  const plan = await planOf(designsOfEvent.text, ['many', 'one']);
  expect(plan).toContain('event_summaries_pkey');
  expect(plan).toContain('using designs_by_event');
  expect(plan).not.toMatch(/Sort|Aggregate|Seq Scan/);
});

test('the service can read and nothing else', async () => {
  const statements = [
    `insert into designs (owner, id) values ('u', 'x')`,
    `update designs set title = 'x'`,
    'delete from event_summaries',
    'truncate designs',
    `select summarise_events(array['u'], array['e'])`,
    'create table catalog.mine (id text)',
    'delete from schema_migrations',
    'select * from resume_points',
    'select * from audit_log',
  ];
  await withClient(catalog.readerUrl, async (client) => {
    await client.query('set search_path = catalog; set default_transaction_read_only = off');
    for (const statement of statements)
      await expect(client.query(statement)).rejects.toMatchObject({ code: '42501' });
  });
  const write = { name: 'write', text: `insert into designs (owner, id) values ('u', 'x')` };
  await expect(catalog.reader.query(write, [])).rejects.toThrow();
});

test('readiness tells an old schema, a missing one, dropped settings and a silent Postgres apart', async () => {
  expect(await schemaProblem(catalog.reader, 'catalog', 1)).toBeUndefined();
  expect(await schemaProblem(catalog.reader, 'catalog', 999)).toContain('version 999');
  const problemAt = async (url: string, schema: string, asked = schema) => {
    const logger = createLogger('test', 'error');
    const options = { url, schema: asked, logger, applicationName: 'catalog test', poolSize: 1, ...patient };
    const database = openDatabase(options);
    return schemaProblem(database, schema, 1).finally(database.close);
  };
  expect(await problemAt(catalog.readerUrl, 'elsewhere')).toContain('migrations');
  expect(await problemAt(catalog.readerUrl, 'catalog', 'public')).toContain('drops the settings');
  expect(await problemAt('postgres://u:p@127.0.0.1:1/none', 'catalog')).toBe('Postgres does not answer');
});
