// Table `designs`: one Event with its most recent designs, in one statement and so of one snapshot.
import type { Queries, Statement } from '@course-exchange/runtime/postgres';
import type { Owner, StoredEventId } from '../domain/ids.ts';
import { type DesignSummary, type EventWithDesigns, mostDesigns } from '../domain/summaries.ts';
import { optionalIsoTime } from './iso-time.ts';

/** Either the Event (`designCount` is set, `title` its name, `eventDate` its start) or one of its designs. */
interface Row {
  readonly designCount: number | null;
  readonly endDate: string | null;
  readonly id: string;
  readonly localId: string | null;
  readonly title: string;
  readonly eventName: string;
  readonly eventDate: string | null;
  readonly updatedAt: string | null;
  readonly authorName: string | null;
  readonly shortDescr: string;
}

// Indexes: event_summaries_pkey, designs_by_event in its order. Foreign and nonexistent Events are the same
// to it (R24): nothing is found under this owner.
export const designsOfEvent: Statement = {
  name: 'designs of event',
  text: `(select design_count as "designCount", end_date as "endDate", '' as id, null as "localId",
      name as title, '' as "eventName", start_date as "eventDate", updated_at as "updatedAt",
      null as "authorName", '' as "shortDescr"
    from event_summaries
    where owner = $1 and event_id = $2)
    union all
    (select null, null, id, local_id, title, event_name, event_date, updated_at, author_name, short_descr
    from designs
    where owner = $1 and event_id = $2 and deleted_at is null and event_id <> ''
    order by updated_at desc nulls last, id
    limit ${mostDesigns})`,
};

/** The Event `eventId` of `owner` and its designs; undefined when `owner` has no such Event. */
export async function findEventWithDesigns(
  database: Queries,
  owner: Owner,
  eventId: StoredEventId,
): Promise<EventWithDesigns | undefined> {
  const rows = await database.query<Row>(designsOfEvent, [owner, eventId]);
  const event = rows.find(({ designCount }) => designCount !== null);
  if (event === undefined) return undefined;
  return {
    event: {
      eventId,
      name: event.title,
      startDate: optionalIsoTime(event.eventDate),
      endDate: optionalIsoTime(event.endDate),
      updatedAt: optionalIsoTime(event.updatedAt),
      designCount: event.designCount ?? 0,
    },
    designs: rows.filter((row) => row !== event).map(toDesign),
  };
}

function toDesign(row: Row): DesignSummary {
  return {
    id: row.id,
    localId: row.localId ?? undefined,
    title: row.title,
    eventName: row.eventName,
    eventDate: optionalIsoTime(row.eventDate),
    updatedAt: optionalIsoTime(row.updatedAt),
    authorName: row.authorName ?? undefined,
    shortDescr: row.shortDescr,
  };
}
