// Counts Events and designs from `event_summaries`, which are exact at every commit (R22), in short read-only
// transactions.
import type { Database, Queries, Statement } from '@course-exchange/runtime/postgres/pool';
import type { Owner } from '../events/event.ts';

const readOnly: Statement = { name: 'read only', text: 'set transaction read only' };

export function readOnlyTransaction<T>(
  database: Database,
  work: (queries: Queries) => Promise<T>,
): Promise<T> {
  return database.transaction(async (queries) => {
    await queries.query(readOnly, []);
    return work(queries);
  });
}

const nextOwners: Statement = {
  name: 'owners of events',
  text: `with recursive found (owner, place) as (
      select (select owner from event_summaries where owner > $1 order by owner limit 1), 1
      union all
      select (select owner from event_summaries where owner > found.owner order by owner limit 1), place + 1
      from found where found.owner is not null and place < $2
    )
    select owner from found where owner is not null order by owner`,
};

/** Up to `most`, sorted. */
export async function ownersAfter(database: Database, owner: string, most: number): Promise<Owner[]> {
  const rows = await readOnlyTransaction(database, ({ query }) =>
    query<{ readonly owner: Owner }>(nextOwners, [owner, most]),
  );
  return rows.map((row) => row.owner);
}

export interface EventGroup {
  readonly owner: Owner;
  readonly designs: number;
  readonly events: number;
}

// Index: event_summaries_pkey.
const groups: Statement = {
  name: 'events by designs',
  text: `select owner, design_count as designs, count(*)::integer as events
    from event_summaries where owner = any($1) group by owner, design_count`,
};

export function eventGroups(database: Database, owners: readonly Owner[]): Promise<EventGroup[]> {
  return readOnlyTransaction(database, ({ query }) => query<EventGroup>(groups, [owners]));
}
