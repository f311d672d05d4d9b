// Each committed batch of the feed has its entry in the catalog's audit log, and nothing else has one.
import { type AuditEntry, listAudit, readAuditHead, verifyAudit } from '@course-exchange/runtime/audit/table';
import { expect, test } from 'vitest';
import { apply, changes, designs, differences, origin } from '../../../../test/stores/feed-changes.ts';
import { useCatalogDatabase } from '../../../../test/stores/postgres.ts';
import { findResumePoint, repeatedly, writeBatch } from './change-table.ts';
import { repairSummaries } from './summary-table.ts';

const catalog = await useCatalogDatabase();

function entries(object?: string): Promise<readonly AuditEntry[]> {
  return listAudit(catalog.feed, { object }, { afterSequence: 0, limit: 1_000, newest: false });
}

const valuesOf = ({ fields }: AuditEntry) =>
  Object.fromEntries(
    (JSON.parse(fields) as { field: string; after: string }[]).map(({ field, after }) => [
      field,
      JSON.parse(after),
    ]),
  );

test('a batch leaves one entry: who, what, how many, from where to where; an ignored one too', async () => {
  const list = changes({ id: '1', revision: 2 }, { id: '2', revision: 2, deleted: true });
  await apply(catalog, list, { source: 'one' });
  await apply(catalog, list, { source: 'one' });
  await apply(catalog, [], { source: 'one', last: true });
  const found = await entries('source:one');
  expect(found).toMatchObject(
    Array.from({ length: 3 }, () => ({ ...origin, action: 'designs.apply', clientId: null })),
  );
  expect(found.map(valuesOf)).toEqual([
    { upserted: 1, deleted: 1, ignored: 0, from: 1, to: 2 },
    { upserted: 0, deleted: 0, ignored: 2, from: 1, to: 2 },
    { upserted: 0, deleted: 0, ignored: 0, ended: true },
  ]);
});

test('a position above 2^53 - 1 is kept as it is', async () => {
  const [change] = changes({ id: 'far', revision: 1 });
  if (change) await apply(catalog, [{ ...change, position: 2n ** 64n - 1n }], { source: 'far' });
  expect((await entries('source:far')).map(valuesOf)).toMatchObject([{ to: '18446744073709551615' }]);
});

test('nothing of a design is in an entry', async () => {
  const canary = 'canary-5b1e';
  await apply(
    catalog,
    changes({ owner: canary, id: canary, revision: 1, eventId: canary, eventName: canary }),
  );
  await catalog.writer.query(`update event_summaries set name = 'x' where owner = $1`, [canary]);
  const difference = { owner: canary, eventId: canary, summarised: 1, counted: 1 };
  await repairSummaries(catalog.feed, [difference], origin);
  const { rows } = await catalog.writer.query('select * from audit_log');
  expect(JSON.stringify(rows)).not.toContain(canary);
  const [repaired] = (await entries('summaries')).slice(-1);
  expect(repaired).toMatchObject({ ...origin, action: 'designs.repair' });
  expect(repaired && valuesOf(repaired)).toEqual({ repaired: 1 });
});

test('no entry without its batch: a batch that Postgres refuses, or whose commit it refuses, leaves none', async () => {
  const [good, bad] = changes({ id: 'good', revision: 1 }, { id: 'bad', revision: 1 });
  if (!good || !bad) throw new Error('two changes');
  const refused = { source: 'refused', changes: [good, { ...bad, id: '' }], last: false };
  await expect(writeBatch(catalog.feed, refused, origin)).rejects.toMatchObject({ code: '23514' });
  // Fails at the commit, when the entry is written already.
  await catalog.writer.query(`
    create function fail() returns trigger language plpgsql as $$ begin raise 'injected'; end $$;
    create constraint trigger late after insert on audit_log deferrable initially deferred
      for each row execute function fail()`);
  const late = writeBatch(catalog.feed, { source: 'refused', changes: [good], last: false }, origin);
  await expect(late).rejects.toThrow('injected');
  await catalog.writer.query('drop trigger late on audit_log; drop function fail()');
  expect(await entries('source:refused')).toEqual([]);
  expect((await designs(catalog)).filter(({ id }) => id === 'good')).toEqual([]);
  expect(await findResumePoint(catalog.feed, 'refused')).toBe(0n);
});

test('no batch without its entry: where none can be written, nothing is applied and nothing repaired', async () => {
  const [change] = changes({ id: 'unheard', revision: 1 });
  const batch = { source: 'unheard', changes: change ? [change] : [], last: false };
  await catalog.writer.query(
    `update event_summaries set design_count = 9;
     alter table audit_log add constraint broken check (sequence < 0) not valid`,
  );
  const repaired = repairSummaries(
    catalog.feed,
    [{ owner: 'u', eventId: 'e', summarised: 9, counted: 1 }],
    origin,
  );
  await expect(repaired).rejects.toMatchObject({ code: '23514' });
  await expect(writeBatch(catalog.feed, batch, origin)).rejects.toMatchObject({ code: '23514' });
  await catalog.writer.query('alter table audit_log drop constraint broken');
  expect((await designs(catalog)).filter(({ id }) => id === 'unheard')).toEqual([]);
  expect(await findResumePoint(catalog.feed, 'unheard')).toBe(0n);
  const { rows } = await catalog.writer.query(`select design_count from event_summaries where owner = 'u'`);
  expect(rows).toMatchObject([{ design_count: 9 }]);
});

test('imports side by side leave exact summaries and one audit chain with an entry for each batch', async () => {
  await catalog.writer.query('truncate designs');
  const before = (await entries()).length;
  const imports = Array.from({ length: 8 }, async (_, stream) => {
    for (let batch = 0; batch < 10; batch += 1) {
      const ids = Array.from({ length: 20 }, (_one, index) => `${(index * 7 + stream) % 20}`);
      const design = { eventId: `e${batch % 5}`, deleted: (batch + stream) % 4 === 0 };
      const list = changes(...ids.map((id) => ({ id, revision: batch * 8 + stream + 1, ...design })));
      const part = { source: `parallel-${stream}`, changes: list, last: false };
      await repeatedly(() => writeBatch(catalog.feed, part, { ...origin, actor: `local:${stream}` }));
    }
  });
  await Promise.all(imports);
  const verdict = await verifyAudit(catalog.feed, undefined);
  expect(verdict).toMatchObject({ head: { sequence: before + 80 }, firstBreak: undefined });
  for (let stream = 0; stream < 8; stream += 1)
    expect(await entries(`source:parallel-${stream}`)).toHaveLength(10);
  expect(await differences(catalog.writer)).toEqual([]);
});

test('no role may change an entry, the owner of the table included', async () => {
  for (const text of ['update audit_log set actor = actor', 'delete from audit_log', 'truncate audit_log'])
    await expect(catalog.writer.query(text)).rejects.toMatchObject({ code: '42501' });
});

test('the log takes its next entry alone', async () => {
  const insert = (sequence: string) =>
    catalog.feed.query(
      {
        name: '',
        text: `insert into audit_log values
          (${sequence}, now(), 'eve', 'designs.apply', 'source:x', null, 'r', '[]', decode(repeat('00', 32), 'hex'))`,
      },
      [],
    );
  const { sequence } = await readAuditHead(catalog.feed);
  for (const other of ['9223372036854775807', '0', String(sequence), String(sequence + 2)])
    await expect(insert(other)).rejects.toMatchObject({ code: '23514' });
  await insert(String(sequence + 1));
});
