// Summaries kept by increments are what a recount says, whatever SQL a direct writer sends and however many
// triggers one statement sets off.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CatalogDatabase, differences, openCatalogDatabase } from './catalog-database.ts';

let catalog: CatalogDatabase;

beforeAll(async () => {
  catalog = await openCatalogDatabase();
});
afterAll(() => catalog.close());

/** A row as SQL: few values, so that rows meet in events, tie in times and differ in names. */
const row = fc
  .record({
    id: fc.integer({ min: 1, max: 9 }),
    event: fc.constantFrom(`'e'`, `'f'`, `''`, 'null'),
    name: fc.constantFrom(`'a'`, `'b'`, `'c'`),
    date: fc.constantFrom('null', `'2026-05-01Z'`, `'2026-05-02Z'`, `'2026-05-03Z'`),
    updated: fc.constantFrom('null', `'2026-04-01Z'`, `'2026-04-02Z'`),
    deleted: fc.constantFrom('null', 'null', 'now()'),
  })
  .map(({ id, event, name, date, updated, deleted }) => ({
    id,
    values: `('u', 'd${id}', ${event}, ${name}, ${date}::timestamptz, ${updated}::timestamptz, ${deleted}::timestamptz)`,
  }));
const rows = fc.uniqueArray(row, { minLength: 1, maxLength: 5, selector: ({ id }) => id });
const columns = '(owner, id, event_id, event_name, event_date, updated_at, deleted_at)';
const changed = ['event_id', 'event_name', 'event_date', 'updated_at', 'deleted_at'];
const valuesOf = (list: readonly { values: string }[]) => list.map(({ values }) => values).join(', ');
const update = fc
  .tuple(fc.integer({ min: 1, max: 9 }), fc.constantFrom(`'e'`, `'f'`, 'null'))
  .map(([id, event]) => `update designs set event_id = ${event} where id <= 'd${id}'`);
const remove = fc.integer({ min: 1, max: 9 }).map((id) => `delete from designs where id > 'd${id}'`);
const insert = rows.map(
  (list) => `insert into designs ${columns} values ${valuesOf(list)} on conflict (owner, id) do nothing`,
);
const upsert = rows.map(
  (list) => `insert into designs ${columns} values ${valuesOf(list)} on conflict (owner, id)
    do update set ${changed.map((name) => `${name} = excluded.${name}`).join(', ')}`,
);
/** Rows of its own, which no other part of the statement touches. */
const insertApart = rows.map(
  (list) => `insert into designs ${columns} values ${valuesOf(list).replaceAll(`'d`, `'x`)}
    on conflict (owner, id) do nothing`,
);
const several = fc
  .tuple(insertApart, fc.oneof(update, remove), fc.boolean())
  .map(([one, other, turned]) => (turned ? [other, one] : [one, other]))
  .map(
    ([one, other]) => `with one as (${one?.replace('where', `where id < 'x' and`)} returning id),
      other as (${other?.replace('where', `where id < 'x' and`)} returning id) select from one, other`,
  );
const merge = rows.map(
  (list) => `merge into designs using (values ${valuesOf(list)})
      as sent ${columns} on designs.owner = sent.owner and designs.id = sent.id
    when matched and sent.event_name = 'c' then delete
    when matched then update set ${changed.map((name) => `${name} = sent.${name}`).join(', ')}
    when not matched then insert ${columns} values (${columns
      .slice(1, -1)
      .split(', ')
      .map((name) => `sent.${name}`)
      .join(', ')})`,
);

test('after every statement of a direct writer the summaries are exact', async () => {
  const statements = fc.array(fc.oneof(insert, upsert, update, remove, several, merge), { maxLength: 12 });
  const property = fc.asyncProperty(statements, async (list) => {
    await catalog.writer.query('truncate designs');
    for (const statement of list) {
      await catalog.writer.query(statement);
      expect([statement, await differences(catalog.writer)]).toEqual([statement, []]);
    }
  });
  await fc.assert(property, { numRuns: 80 });
});
