// Recounts Events from `designs` and compares them with `event_summaries`.
import { type AppendedHead, type AuditOrigin, appendToAudit } from '@course-exchange/runtime/audit/table';
import { allRows, type Database, onlyRow } from '@course-exchange/runtime/postgres/pool';
import { repairedSummaries } from './change.ts';

export interface SummaryDifference {
  readonly owner: string;
  readonly eventId: string;
  /** Null: there is no summary. */
  readonly summarised: number | null;
  /** Null: there are no designs, so the Event does not exist. */
  readonly counted: number | null;
}

export interface Recount {
  /** Null: no owner was left. */
  readonly lastOwner: string | null;
  readonly owners: number;
  readonly events: number;
  readonly differences: readonly SummaryDifference[];
}

// Steps from owner to owner over designs_pkey and event_summaries_pkey, in one snapshot.
export const recountEvents = onlyRow<Recount, [owner: string, most: number]>(
  'recount events',
  `with recursive found (owner, place) as (
      select least(
          (select owner from designs where owner > $1 order by owner limit 1),
          (select owner from event_summaries where owner > $1 order by owner limit 1)), 1
      union all
      select least(
          (select owner from designs where owner > found.owner order by owner limit 1),
          (select owner from event_summaries where owner > found.owner order by owner limit 1)), place + 1
      from found where found.owner is not null and place < $2
    ),
    owners as materialized (select owner from found where owner is not null),
    counted as (
      select owner, event_id,
        (array_agg(event_name order by updated_at desc nulls last, id))[1] as name,
        min(event_date) as start_date, max(event_date) as end_date, max(updated_at) as updated_at,
        count(*)::integer as designs
      from owners join designs using (owner)
      where deleted_at is null and event_id <> ''
      group by owner, event_id
    ),
    kept as (
      select owner, event_id, summary.name, summary.start_date, summary.end_date, summary.updated_at,
        design_count as designs, public_json
      from owners join event_summaries as summary using (owner)
    ),
    compared as (
      select owner, event_id, kept.designs as summarised, counted.designs as counted,
        (kept.name, kept.start_date, kept.end_date, kept.updated_at, kept.designs, kept.public_json)
          is distinct from
          (counted.name, counted.start_date, counted.end_date, counted.updated_at, counted.designs,
            event_json(event_id, counted.name, counted.start_date, counted.end_date, counted.updated_at,
              counted.designs)) as differs
      from kept full join counted using (owner, event_id)
    )
    select (select max(owner) from owners) as "lastOwner",
      (select count(*)::integer from owners) as owners,
      count(*)::integer as events,
      coalesce(json_agg(json_build_object('owner', owner, 'eventId', event_id, 'summarised', summarised,
        'counted', counted) order by owner, event_id) filter (where differs), '[]') as differences
    from compared`,
);

const repair = allRows<never, [owners: string[], eventIds: string[]]>(
  'repair event summaries',
  'select summarise_events($1::text[], $2::text[])',
);

/** Atomic, with an audit entry. `differences` are sorted, without duplicates. */
export function repairSummaries(
  database: Database,
  differences: readonly SummaryDifference[],
  origin: AuditOrigin,
): Promise<AppendedHead> {
  return database.transaction(async (queries) => {
    const owners = differences.map(({ owner }) => owner);
    const eventIds = differences.map(({ eventId }) => eventId);
    await repair(queries, owners, eventIds);
    return appendToAudit(queries, origin, [repairedSummaries(differences.length)]);
  });
}
