// The data volume (specification §8): Events per owner and designs per Event, as frequencies, which add up over parts
// and name no owner. They are counted from `event_summaries`, which are exact at every commit (R22.4), in short
// read-only transactions.
import type { Database, Queries, Statement } from '@course-exchange/runtime/postgres/pool';
import type { Owner } from '../events/event.ts';
import { listEvents } from '../events/event-table.ts';
import type { FeedDeps } from './feed.ts';

export type Frequencies = ReadonlyMap<number, number>;

export interface VolumePart {
  readonly eventsPerOwner: Frequencies;
  readonly designsPerEvent: Frequencies;
  /** In the last part: the list with the most Events. */
  readonly longestList?: {
    readonly events: number;
    readonly bytes: number;
    readonly milliseconds: number;
  };
}

type VolumeDeps = Pick<FeedDeps, 'database' | 'now'>;

/** Owners per statement: none runs long beside the reads. */
const ownersInPart = 200;

/** For the owners `asked`, each once, or all. The parts are not from one moment. */
export async function* measureVolume(
  deps: VolumeDeps,
  asked: readonly Owner[],
  most = ownersInPart,
): AsyncGenerator<VolumePart> {
  let longest: { readonly owner: Owner; readonly events: number } | undefined;
  for await (const owners of ownerParts(deps, asked, most)) {
    const { lists, ...part } = countGroups(await eventGroups(deps.database, owners));
    for (const [owner, events] of lists) if (events > (longest?.events ?? 0)) longest = { owner, events };
    yield part;
  }
  if (longest === undefined) return;
  const longestList = await measureList(deps, longest.owner);
  yield { eventsPerOwner: new Map(), designsPerEvent: new Map(), longestList };
}

async function* ownerParts(
  { database }: VolumeDeps,
  asked: readonly Owner[],
  most: number,
): AsyncGenerator<readonly Owner[]> {
  for (let first = 0; first < asked.length; first += most) yield asked.slice(first, first + most);
  let last = asked.length === 0 ? '' : undefined;
  while (last !== undefined) {
    const owners: readonly Owner[] = await ownersAfter(database, last, most);
    last = owners.at(-1);
    if (owners.length > 0) yield owners;
  }
}

function countGroups(groups: readonly EventGroup[]) {
  const lists = new Map<Owner, number>();
  const eventsPerOwner = new Map<number, number>();
  const designsPerEvent = new Map<number, number>();
  for (const { owner, designs, events } of groups) {
    add(lists, owner, events);
    add(designsPerEvent, designs, events);
  }
  for (const events of lists.values()) add(eventsPerOwner, events, 1);
  return { lists, eventsPerOwner, designsPerEvent };
}

function add<Key>(counts: Map<Key, number>, key: Key, count: number): void {
  counts.set(key, (counts.get(key) ?? 0) + count);
}

function measureList({ database, now }: VolumeDeps, owner: Owner) {
  return readOnlyTransaction(database, async (queries) => {
    const start = now();
    const { events, json } = await listEvents(queries, owner);
    const bytes = Buffer.from(json).length;
    return { events, bytes, milliseconds: now() - start };
  });
}

const readOnly: Statement = { name: 'read only', text: 'set transaction read only' };

function readOnlyTransaction<T>(database: Database, work: (queries: Queries) => Promise<T>): Promise<T> {
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
async function ownersAfter(database: Database, owner: string, most: number): Promise<Owner[]> {
  const rows = await readOnlyTransaction(database, ({ query }) =>
    query<{ readonly owner: Owner }>(nextOwners, [owner, most]),
  );
  return rows.map((row) => row.owner);
}

interface EventGroup {
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

function eventGroups(database: Database, owners: readonly Owner[]): Promise<EventGroup[]> {
  return readOnlyTransaction(database, ({ query }) => query<EventGroup>(groups, [owners]));
}
