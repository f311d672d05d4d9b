// Summaries of events are what a recount says: whatever SQL a direct writer sends, however many triggers one statement
// sets off, and however many write at once.
import fc from 'fast-check';
import { beforeEach, expect, test } from 'vitest';
import { differences } from '../../../../test/stores/feed-changes.ts';
import { useCatalogDatabase } from '../../../../test/stores/postgres.ts';

const racers = 50;
const catalog = await useCatalogDatabase(racers);

beforeEach(async () => {
  await catalog.writer.query('truncate designs');
});

async function summaries(): Promise<unknown[]> {
  const { rows } = await catalog.writer.query(
    'select owner, event_id, name, design_count from event_summaries order by 1, 2',
  );
  return rows;
}

test('a design that is given away leaves its former owner no event, and truncate leaves none at all [R22.1 R22.5 R22.6]', async () => {
  await catalog.writer.query(`insert into designs (owner, id, event_id, deleted_at) values
    ('u', '1', 'e', null), ('u', '2', '', null), ('u', '3', null, null), ('u', '4', 'e', now())`);
  expect(await summaries()).toMatchObject([{ owner: 'u', event_id: 'e', design_count: 1 }]);
  await catalog.writer.query(`update designs set owner = 'v' where id = '1'`);
  expect(await summaries()).toMatchObject([{ owner: 'v', event_id: 'e', design_count: 1 }]);
  await catalog.writer.query('truncate designs');
  expect(await summaries()).toEqual([]);
});

const statements: readonly ((n: number) => string)[] = [
  (n) => `insert into designs (owner, id, event_id, event_name, event_date, updated_at)
    select 'u', 'd' || g, 'e' || (g + ${n}) % 3, 'n' || ${n}, now() + ${n} * interval '1 day', now() + g * interval '1 s'
    from generate_series(${n} % 20, ${n} % 20 + 5) g
    on conflict (owner, id) do update set event_id = excluded.event_id, event_name = excluded.event_name,
      updated_at = excluded.updated_at, deleted_at = null`,
  (n) => `update designs set event_id = 'e' || (${n} % 3), updated_at = null where id = 'd' || ${n} % 20`,
  (n) =>
    `update designs set deleted_at = case when deleted_at is null then now() end where id = 'd' || ${n} % 20`,
  (n) => `delete from designs where id >= 'd' || ${n} % 20`,
  (n) => `update designs set event_name = 'r' || ${n} where id = 'd' || ${n} % 20`,
];

test('50 connections writing the same three events leave them exact', async () => {
  const deadlocks = await race((n) => statements[n % statements.length]?.(n) ?? '');
  expect(await differences(catalog.writer)).toEqual([]);
  expect((await summaries()).length).toBeGreaterThan(0);
  expect(deadlocks).toBeLessThan(racers * 10);
});

test('50 connections adding to one event: none waits in a circle and every design is counted', async () => {
  const failed = await race(
    (n) => `insert into designs (owner, id, event_id) values ('u', 'x${n}', 'e1'), ('u', 'y${n}', 'e2')`,
  );
  expect(failed).toBe(0);
  expect(await summaries()).toMatchObject([{ design_count: racers * 10 }, { design_count: racers * 10 }]);
  expect(await differences(catalog.writer)).toEqual([]);
});

/**
 * Ten statements from each of 50 connections at once; counts those that Postgres ended as deadlocks (their
 * rows lie across each other in `designs` itself; such a statement has changed nothing).
 */
async function race(statement: (n: number) => string): Promise<number> {
  const outcomes = await Promise.all(
    Array.from({ length: racers }, async (_one, racer) => {
      let failed = 0;
      for (let round = 0; round < 10; round++) {
        await catalog.writer.query(statement(racer * 10 + round)).catch((error: { code?: string }) => {
          if (error.code !== '40P01') throw error;
          failed += 1;
        });
      }
      return failed;
    }),
  );
  return outcomes.reduce((sum, failed) => sum + failed, 0);
}

test('a bulk load costs one recount for each event it touches', async () => {
  const connection = await catalog.writer.connect();
  // What the connection did before is not to be counted.
  await connection.query('select pg_stat_force_next_flush()');
  await connection.query('begin');
  await connection.query(
    `insert into designs (owner, id, event_id, event_name, updated_at)
     select 'u' || g / 5000, 'd' || g, 'e' || g % 200, 'n', now() + g * interval '1 s'
     from generate_series(0, 49999) g`,
  );
  const { rows } = await connection.query(
    `select relname, n_tup_ins + n_tup_upd as written, seq_tup_read + coalesce(idx_tup_fetch, 0) as read
     from pg_stat_xact_user_tables where schemaname = 'catalog'`,
  );
  await connection.query('commit');
  connection.release();
  const cost = Object.fromEntries(
    rows.map(({ relname, written, read }) => [relname, [Number(written), Number(read)]]),
  );
  expect(cost).toMatchObject({ event_summaries: [2_000, expect.any(Number)] });
  expect(cost.designs?.[1]).toBeLessThan(200_000);
  expect(await differences(catalog.writer)).toEqual([]);
});

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
/** Rows that no other part of the statement touches. */
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

test('the summaries are exact after every statement of a direct writer', async () => {
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
