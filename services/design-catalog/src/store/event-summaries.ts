// Table `event_summaries`: what is kept on write and read as it stands (R22).
import type { Queries, Statement } from '@course-exchange/runtime/postgres';
import type { Owner, StoredEventId } from '../domain/ids.ts';
import type { EventSummary } from '../domain/summaries.ts';
import { optionalIsoTime } from './iso-time.ts';

interface EventRow {
  readonly eventId: StoredEventId;
  readonly name: string;
  readonly startDate: string | null;
  readonly endDate: string | null;
  readonly updatedAt: string | null;
  readonly designCount: number;
}

// Index: event_summaries_pkey; sorts what it returns and nothing more.
export const eventsOfOwner: Statement = {
  name: 'events of owner',
  text: `select event_id as "eventId", name, start_date as "startDate", end_date as "endDate",
      updated_at as "updatedAt", design_count as "designCount"
    from event_summaries
    where owner = $1
    order by updated_at desc nulls last, event_id`,
};

/** All Events of `owner`, the latest update first. One statement, so one snapshot. */
export async function listEvents(database: Queries, owner: Owner): Promise<EventSummary[]> {
  const rows = await database.query<EventRow>(eventsOfOwner, [owner]);
  return rows.map(({ eventId, name, startDate, endDate, updatedAt, designCount }) => ({
    eventId,
    name,
    startDate: optionalIsoTime(startDate),
    endDate: optionalIsoTime(endDate),
    updatedAt: optionalIsoTime(updatedAt),
    designCount,
  }));
}
