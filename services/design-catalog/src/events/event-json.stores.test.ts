// What crosses the wire against a plain model of specification §2: for any designs the texts are equal, byte for byte.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { useCatalogDatabase } from '../../../../test/stores/postgres.ts';
import type { Owner, StoredEventId } from './event.ts';
import { findEventWithDesigns, listEvents } from './event-table.ts';

const catalog = await useCatalogDatabase();
const owner = 'u' as Owner;

interface Design {
  readonly id: string;
  readonly localId: string | null;
  readonly eventId: string | null;
  readonly title: string;
  readonly eventName: string;
  /** ISO 8601 with microseconds: texts of such times sort as the times do. */
  readonly eventDate: string | null;
  readonly updatedAt: string | null;
  readonly authorName: string | null;
  readonly shortDescr: string;
  readonly deleted: boolean;
}

/** Whatever Postgres can hold: quotes, control characters, line separators, other planes. */
const text = fc.string({ unit: 'binary', maxLength: 40 }).map((raw) => raw.replaceAll('\0', ''));
const years = { min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59.999Z') };
const moment = fc
  .tuple(fc.date({ ...years, noInvalidDate: true }), fc.constantFrom('000', '001', '500', '999'))
  .map(([date, micros]) => date.toISOString().replace('Z', `${micros}Z`));
const moments = fc.option(fc.oneof(moment, fc.constantFrom('2026-05-01T00:00:00.000000Z')));
const design: fc.Arbitrary<Design> = fc.record({
  id: fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 4 }),
  localId: fc.option(text),
  eventId: fc.option(fc.oneof(text, fc.constantFrom('e', 'Größe / 😀', 'x'.repeat(200)))),
  title: text,
  eventName: text,
  eventDate: moments,
  updatedAt: moments,
  authorName: fc.option(text),
  shortDescr: text,
  deleted: fc.boolean(),
});
const designs = fc.uniqueArray(design, { maxLength: 12, selector: ({ id }) => id });

async function write(list: readonly Design[]): Promise<void> {
  await catalog.writer.query('truncate designs');
  await catalog.writer.query(
    `insert into designs (owner, id, local_id, event_id, title, event_name, event_date, updated_at, author_name,
       short_descr, deleted_at)
     select 'u', id, "localId", "eventId", title, "eventName", "eventDate", "updatedAt", "authorName", "shortDescr",
       case when deleted then now() end
     from json_to_recordset($1) as sent (id text, "localId" text, "eventId" text, title text, "eventName" text,
       "eventDate" timestamptz, "updatedAt" timestamptz, "authorName" text, "shortDescr" text, deleted boolean)`,
    [JSON.stringify(list)],
  );
}

const bytewise = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** The latest update first, those without one last, then by `id`. */
function byUpdate<T extends { readonly updatedAt: string | null }>(id: (one: T) => string) {
  return (a: T, b: T) => bytewise(b.updatedAt ?? '', a.updatedAt ?? '') || bytewise(id(a), id(b));
}

const publicTime = (time: string | null | undefined) => time?.replace(/\d{3}Z$/, 'Z') ?? null;

function eventSummary(eventId: string, members: readonly Design[]) {
  const [latest] = members;
  const dates = members.flatMap(({ eventDate }) => eventDate ?? []).toSorted(bytewise);
  return {
    id: Buffer.from(eventId).toString('base64url'),
    name: latest?.eventName,
    startDate: publicTime(dates.at(0)),
    endDate: publicTime(dates.at(-1)),
    updatedAt: publicTime(latest?.updatedAt),
    designCount: members.length,
  };
}

function designSummary({ id, localId, eventId, title, eventName, ...rest }: Design) {
  return {
    id,
    localId,
    eventId: Buffer.from(eventId ?? '').toString('base64url'),
    title,
    eventName,
    eventDate: publicTime(rest.eventDate),
    updatedAt: publicTime(rest.updatedAt),
    authorName: rest.authorName,
    shortDescr: rest.shortDescr,
  };
}

test('the list and each event with its designs are the text that the specification gives [R22.2 R22.3 R22.4 R22.5 R22.6 R22.7 R22.8 R23.1 R23.2]', async () => {
  const property = fc.asyncProperty(designs, async (list) => {
    await write(list);
    const alive = list
      .filter(({ eventId, deleted }) => eventId && !deleted)
      .toSorted(byUpdate(({ id }) => id));
    const events = [...Map.groupBy(alive, ({ eventId }) => eventId ?? '')]
      .map(([eventId, members]) => ({ eventId, members, updatedAt: members[0]?.updatedAt ?? null }))
      .toSorted(byUpdate(({ eventId }) => eventId));
    const items = events.map(({ eventId, members }) => eventSummary(eventId, members));
    expect((await listEvents(catalog.reader, owner)).json).toBe(JSON.stringify({ items }));
    for (const { eventId, members } of events) {
      const found = await findEventWithDesigns(catalog.reader, owner, eventId as StoredEventId);
      const expected = { event: eventSummary(eventId, members), items: members.map(designSummary) };
      expect(found?.json).toBe(JSON.stringify(expected));
    }
  });
  await fc.assert(property, { numRuns: 150 });
});
