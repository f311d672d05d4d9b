import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type CatalogDatabase, differences, openCatalogDatabase } from './catalog-database.ts';

const racers = 50;
let catalog: CatalogDatabase;

beforeAll(async () => {
  catalog = await openCatalogDatabase(racers);
});
afterAll(() => catalog.close());
beforeEach(async () => {
  await catalog.writer.query('truncate designs');
});

async function summaries(): Promise<unknown[]> {
  const { rows } = await catalog.writer.query(
    'select owner, event_id, name, design_count from event_summaries order by 1, 2',
  );
  return rows;
}

async function add(design: Record<string, unknown>): Promise<void> {
  const row = { owner: 'u', id: 'd', event_id: 'e', ...design };
  const names = Object.keys(row);
  await catalog.writer.query(
    `insert into designs (${names}) values (${names.map((_name, index) => `$${index + 1}`)})`,
    Object.values(row),
  );
}

test('the name is that of the design updated last; without a time last, ties by id [R22.2 R22.7]', async () => {
  await add({ id: 'b', event_name: 'no time' });
  expect(await summaries()).toMatchObject([{ name: 'no time' }]);
  await add({ id: 'd', event_name: 'later id', updated_at: '2026-01-01Z' });
  await add({ id: 'c', event_name: 'first id', updated_at: '2026-01-01Z' });
  await add({ id: 'a', event_name: 'older', updated_at: '2025-01-01Z' });
  expect(await summaries()).toMatchObject([{ name: 'first id', design_count: 4 }]);
  expect(await differences(catalog.writer)).toEqual([]);
});

test('deleting, moving and giving away designs leaves no event without designs [R22.1 R22.5 R22.6]', async () => {
  await add({ id: '1' });
  await add({ id: '2', event_id: '' });
  await add({ id: '3', event_id: null });
  await add({ id: '4', deleted_at: '2026-01-01Z' });
  expect(await summaries()).toMatchObject([{ owner: 'u', event_id: 'e', design_count: 1 }]);
  await catalog.writer.query(`update designs set event_id = 'f' where id = '1'`);
  expect(await summaries()).toMatchObject([{ event_id: 'f', design_count: 1 }]);
  await catalog.writer.query(`update designs set owner = 'v' where id = '1'`);
  expect(await summaries()).toMatchObject([{ owner: 'v', event_id: 'f', design_count: 1 }]);
  await catalog.writer.query('update designs set deleted_at = now()');
  expect(await summaries()).toEqual([]);
  await catalog.writer.query('update designs set deleted_at = null');
  expect(await summaries()).toHaveLength(2);
  await catalog.writer.query('delete from designs');
  expect(await summaries()).toEqual([]);
});

test('truncate and a rolled-back load leave nothing behind', async () => {
  await add({ id: '1' });
  await catalog.writer.query('truncate designs');
  expect(await summaries()).toEqual([]);
  const connection = await catalog.writer.connect();
  await connection.query(`begin; insert into designs (owner, id, event_id) values ('u', '1', 'e'); rollback`);
  connection.release();
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
  (n) => `delete from designs where id = 'd' || ${n} % 20`,
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

test('the last designs deleted while others are added: the event is what is left', async () => {
  await race((n) =>
    n % 2 ? `insert into designs (owner, id, event_id) values ('u', 'z${n}', 'e')` : 'delete from designs',
  );
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
  const begun = performance.now();
  await catalog.writer.query(
    `insert into designs (owner, id, event_id, event_name, updated_at)
     select 'u' || g / 5000, 'd' || g, 'e' || g % 200, 'n', now() + g * interval '1 s'
     from generate_series(0, 49999) g`,
  );
  expect(await differences(catalog.writer)).toEqual([]);
  expect(performance.now() - begun).toBeLessThan(20_000);
});
