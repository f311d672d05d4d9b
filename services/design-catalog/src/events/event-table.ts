// Reads tables `event_summaries` and `designs`, each in one statement and so from one snapshot.
import type { ReadStatement, Reads } from '@course-exchange/runtime/postgres/pool';
import { maxDesigns, type Owner, publicEventId, type StoredEventId } from './event.ts';

export interface EventList {
  readonly events: number;
  /** `{items: EventSummary[]}` (specification §4). */
  readonly json: string;
}

// Index: event_summaries_pkey.
export const eventsOfOwner: ReadStatement = {
  isRead: true,
  name: 'events of owner',
  text: `select count(*)::integer as events,
      '{"items":[' || coalesce(string_agg(public_json, ',' order by updated_at desc nulls last, event_id), '')
        || ']}' as json
    from event_summaries
    where owner = $1`,
};

/** Latest update first. */
export async function listEvents(database: Reads, owner: Owner): Promise<EventList> {
  const [list] = await database.query<EventList>(eventsOfOwner, [owner]);
  if (list === undefined) throw new Error('an aggregate without a row');
  return list;
}

export interface EventWithDesigns {
  readonly designs: number;
  /** `{event: EventSummary, items: DesignSummary[]}` (specification §4). */
  readonly json: string;
}

/** The Event (`eventJson` is set) or one of its designs (specification §2), with Postgres' times. */
interface Row {
  readonly eventJson: string | null;
  readonly id: string;
  readonly localId: string | null;
  readonly title: string;
  readonly eventName: string;
  readonly eventDate: string | null;
  readonly updatedAt: string | null;
  readonly authorName: string | null;
  readonly shortDescr: string;
}

// Indexes: event_summaries_pkey; designs_by_event, in its order. Foreign and nonexistent Events are the same (R24).
export const designsOfEvent: ReadStatement = {
  isRead: true,
  name: 'designs of event',
  text: `(select public_json as "eventJson", '' as id, null as "localId", '' as title, '' as "eventName",
      null as "eventDate", null as "updatedAt", null as "authorName", '' as "shortDescr"
    from event_summaries
    where owner = $1 and event_id = $2)
    union all
    (select null, id, local_id, title, event_name, event_date, updated_at, author_name, short_descr
    from designs
    where owner = $1 and event_id = $2 and deleted_at is null and event_id <> ''
    order by updated_at desc nulls last, id
    limit ${maxDesigns})`,
};

export async function findEventWithDesigns(
  database: Reads,
  owner: Owner,
  eventId: StoredEventId,
): Promise<EventWithDesigns | undefined> {
  const rows = await database.query<Row>(designsOfEvent, [owner, eventId]);
  const event = rows.find(({ eventJson }) => eventJson !== null);
  if (event === undefined) return undefined;
  const publicId = publicEventId(eventId);
  // Field by field: spreading each row costs half as much again.
  const items = rows
    .filter((row) => row !== event)
    .map((row) => ({
      id: row.id,
      localId: row.localId,
      eventId: publicId,
      title: row.title,
      eventName: row.eventName,
      eventDate: isoTime(row.eventDate),
      updatedAt: isoTime(row.updatedAt),
      authorName: row.authorName,
      shortDescr: row.shortDescr,
    }));
  return { designs: items.length, json: `{"event":${event.eventJson},"items":${JSON.stringify(items)}}` };
}

/**
 * From Postgres' `2026-05-01 09:30:00.25+00`, truncated to milliseconds (R23.2). The connection uses UTC and ISO dates,
 * the schema four-digit years.
 */
export function isoTime(text: string | null): string | null {
  if (text === null) return null;
  if (text[10] !== ' ' || !text.endsWith('+00')) throw new Error('unexpected time format');
  const second = `${text.slice(0, 10)}T${text.slice(11, 19)}`;
  return `${second}.${text.length > 22 ? text.slice(20, -3).slice(0, 3).padEnd(3, '0') : '000'}Z`;
}
