// What the feed leaves in the catalog: the highest revision of each design, tombstones, exact summaries.
import fc from 'fast-check';
import { beforeEach, expect, test } from 'vitest';
import { apply, changes, designs, differences } from '../../../../test/stores/feed-changes.ts';
import { refused, useCatalogDatabase } from '../../../../test/stores/postgres.ts';
import { storedTime } from '../../../rules/src/time.ts';
import { findResumePoint, repeatedly } from './change-table.ts';

const catalog = await useCatalogDatabase();

beforeEach(() => catalog.writer.query('truncate designs; delete from resume_points'));

test('a change repeated is ignored, one of a lower revision too, one of a higher revision holds', async () => {
  const first = changes({ revision: 5, eventName: 'five' });
  expect(await apply(catalog, first)).toMatchObject({ upserted: 1, ignored: 0 });
  expect(await apply(catalog, first)).toMatchObject({ upserted: 0, ignored: 1 });
  expect(await apply(catalog, changes({ revision: 4, eventName: 'four' }))).toMatchObject({ ignored: 1 });
  expect(await apply(catalog, changes({ revision: 5, deleted: true }))).toMatchObject({ ignored: 1 });
  expect(await designs(catalog)).toMatchObject([{ revision: '5', event_name: 'five', deleted_at: null }]);
  expect(await apply(catalog, changes({ revision: 6, eventName: 'six' }))).toMatchObject({ upserted: 1 });
  expect(await designs(catalog)).toMatchObject([{ revision: '6', event_name: 'six' }]);
});

test('a deletion leaves the key, the revision and the time, and nothing else of the design', async () => {
  await apply(catalog, changes({ revision: 1, updatedAt: '2026-05-01T00:00:00Z' }));
  expect(await apply(catalog, changes({ revision: 7, deleted: true }))).toMatchObject({ deleted: 1 });
  expect(await designs(catalog)).toEqual([
    {
      owner: 'u',
      id: 'd',
      revision: '7',
      deleted_at: new Date('2026-06-01T00:00:00Z'),
      title: '',
      event_name: '',
      short_descr: '',
      local_id: null,
      event_id: null,
      author_name: null,
      event_date: null,
      updated_at: null,
    },
  ]);
  expect(await apply(catalog, changes({ revision: 6 }))).toMatchObject({ ignored: 1 });
  expect(await differences(catalog.writer)).toEqual([]);
});

test('a deletion of what never was keeps out the older design that follows it', async () => {
  await apply(catalog, changes({ revision: 3, deleted: true }));
  await apply(catalog, changes({ revision: 2 }));
  expect(await designs(catalog)).toMatchObject([{ revision: '3', event_id: null }]);
  await apply(catalog, changes({ revision: 4 }));
  expect(await designs(catalog)).toMatchObject([{ revision: '4', event_id: 'e', deleted_at: null }]);
});

const time = fc
  .tuple(
    fc.constantFrom('0000-12-31', '0001-01-01', '1582-10-10', '2024-02-29', '9999-12-31'),
    fc.constantFrom('00:00:00', '00:30:59.9999999', '12:00:00.5', '23:59:59.999999999'),
    fc.constantFrom('Z', '-00:00', '+00:01', '-00:45', '+01:00', '-15:59', '+16:00', '+23:59', '-23:59'),
  )
  .map(([day, clock, offset]) => `${day}T${clock}${offset}`);

test('Postgres takes each time that the feed takes, for the same instant', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(time, { minLength: 20, maxLength: 60 }), async (texts) => {
      const times = texts.flatMap((text) => {
        const stored = storedTime(text);
        return stored === undefined ? [] : [{ text, stored }];
      });
      const told = times.map(({ stored }, index) => {
        return { id: String(index), revision: 1, eventDate: stored, updatedAt: stored };
      });
      const deletions = changes({ revision: 2, deleted: true }).map((change) => {
        return { ...change, deletedAt: times[0]?.stored, position: 100n };
      });
      await apply(catalog, [...changes(...told), ...deletions]);
      const { rows } = await catalog.writer.query(
        `select id, floor(extract(epoch from event_date) * 1000)::text as at from designs where deleted_at is null`,
      );
      await catalog.writer.query('truncate designs');
      const expected = times.map(({ text }, index) => ({ id: String(index), at: String(Date.parse(text)) }));
      expect(rows).toHaveLength(expected.length);
      expect(rows).toEqual(expect.arrayContaining(expected));
    }),
    { numRuns: 30 },
  );
});

test('table designs holds texts as long as the feed takes them, and no longer [R23.5]', async () => {
  const [change = expect.fail()] = changes({ revision: 1 });
  const { design = expect.fail() } = change;
  const longest = { localId: 1_000, title: 1_000, eventName: 1_000, authorName: 1_000, shortDescr: 2_000 };
  for (const [field, characters] of Object.entries(longest)) {
    const of = (length: number) => ({ ...change, design: { ...design, [field]: '😀'.repeat(length) } });
    await expect(apply(catalog, [of(characters + 1)]), field).rejects.toMatchObject({ code: '23514' });
    expect(await apply(catalog, [{ ...of(characters), id: field }]), field).toMatchObject({ upserted: 1 });
  }
});

test('revisions use all of 64 bits', async () => {
  const [change] = changes({ revision: 1, eventName: 'highest' });
  if (change) await apply(catalog, [{ ...change, revision: 2n ** 64n - 1n }]);
  expect(await apply(catalog, changes({ revision: Number.MAX_SAFE_INTEGER }))).toMatchObject({ ignored: 1 });
  expect(await designs(catalog)).toMatchObject([{ revision: '18446744073709551615', event_name: 'highest' }]);
});

const told = fc.record({
  owner: fc.constantFrom('u', 'v'),
  id: fc.constantFrom('1', '2', '3', '4', '5'),
  eventId: fc.constantFrom('e', 'f', ''),
  eventName: fc.constantFrom('a', 'b', 'c'),
  deleted: fc.boolean(),
  eventDate: fc.constantFrom(undefined, '2026-05-01T00:00:00Z', '2026-05-03T00:00:00Z'),
  updatedAt: fc.constantFrom(undefined, '2026-04-01T00:00:00Z', '2026-04-02T00:00:00Z'),
});
/** Each with a different revision, and an order in which they arrive. */
const shuffled = fc
  .array(told, { minLength: 1, maxLength: 30 })
  .map((list) => list.map((one, index) => ({ ...one, revision: index + 1 })))
  .chain((list) => fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })));

test('whatever the order, the batches and the repeats, the same designs and exact summaries remain', async () => {
  const property = fc.asyncProperty(
    shuffled,
    fc.integer({ min: 1, max: 31 }),
    async ([list, order], batch) => {
      await catalog.writer.query('truncate designs');
      await apply(catalog, changes(...list), { batch: 31 });
      const expected = await designs(catalog);
      await catalog.writer.query('truncate designs');
      await apply(catalog, changes(...order), { batch });
      expect(await differences(catalog.writer)).toEqual([]);
      await apply(catalog, changes(...order.slice(batch)), { batch: 7 });
      expect(await designs(catalog)).toEqual(expected);
      expect(await differences(catalog.writer)).toEqual([]);
    },
  );
  await fc.assert(property, { numRuns: 60 });
});

test('the resume point is that of the last batch, never goes back, and ends with its source', async () => {
  const list = changes(...[1, 2, 3, 4, 5].map((id) => ({ id: `${id}`, revision: 1 })));
  await apply(catalog, list, { source: 's', batch: 2 });
  expect(await findResumePoint(catalog.feed, 's')).toBe(5n);
  await apply(catalog, list.slice(0, 2), { source: 's' });
  expect(await findResumePoint(catalog.feed, 's')).toBe(5n);
  expect(await findResumePoint(catalog.feed, 'other')).toBe(0n);
  expect(await apply(catalog, list, { source: 's', last: true })).toMatchObject({ position: 5n, ignored: 5 });
  expect(await findResumePoint(catalog.feed, 's')).toBe(0n);
});

test('a stream that fails in the middle keeps the batches before, and the resume point says which', async () => {
  const list = changes(...[1, 2, 3, 4, 5].map((id) => ({ id: `${id}`, revision: 1 })));
  const outOfOrder = list.map((change, index) => (index === 4 ? { ...change, position: 2n } : change));
  await expect(apply(catalog, outOfOrder, { source: 's', batch: 2 })).rejects.toMatchObject({
    code: 'invalid_argument',
    detail: 'Position 2 comes after 4: positions ascend from 1.',
  });
  const position = await findResumePoint(catalog.feed, 's');
  expect(await designs(catalog)).toHaveLength(Number(position));
  await apply(catalog, list.slice(Number(position)), { source: 's' });
  expect(await designs(catalog)).toHaveLength(5);
});

test('a deadlock is repeated, anything else is not', async () => {
  let calls = 0;
  const deadlocks = async () => {
    calls += 1;
    if (calls < 3) throw refused('40P01');
    return 'written';
  };
  expect(await repeatedly(deadlocks)).toBe('written');
  const broken = () => Promise.reject(refused('23514'));
  await expect(repeatedly(broken)).rejects.toMatchObject({ code: '23514' });
});
