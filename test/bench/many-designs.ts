// Designs in numbers: owners of three kinds, loaded through the triggers of table `designs`, and changes for the feed.
import type { Client } from 'pg';

export interface OwnerKind {
  readonly name: string;
  /** The number of one of them, by chance, among the first `owners`. */
  readonly someone: (owners: number) => number;
}

const among = (owners: number, step: number): number => step * Math.ceil(Math.random() * (owners / step));

/** One owner in a hundred has 20 times the mean, nine have 4 times it, the others half of it. */
export const ownerKinds: readonly OwnerKind[] = [
  { name: 'a usual owner', someone: (owners) => among(owners - 10, 10) + 1 },
  { name: 'an active owner', someone: (owners) => among(owners - 100, 100) + 50 },
  { name: 'a very active owner', someone: (owners) => among(owners, 100) },
];

/** A fifth of an owner's designs are in the first Event, the others by twos or eights in more. */
export function firstEvent(owner: number): string {
  return `ev-${owner}-0`;
}

export interface OwnerRange {
  readonly first: number;
  readonly last: number;
  /** Designs of an owner in the mean. */
  readonly perOwner: number;
}

/**
 * Inserts the designs of these owners in one statement, so that each Event is counted once. In an order of chance:
 * designs of one Event arrive over months, and do not lie side by side.
 */
export async function loadOwners(client: Client, { first, last, perOwner }: OwnerRange): Promise<void> {
  await client.query(
    `insert into designs (owner, id, revision, local_id, event_id, title, event_name, short_descr, author_name,
      event_date, updated_at)
    select substr(md5(i::text), 1, 22), 'd-' || (i::bigint * 100000 + d), 1, 'local-' || d, 'ev-' || i || '-' || e,
      'Grand Prix, round ' || d, 'Spring Tour ' || e, '1.45 m, 12 obstacles, course ' || d, 'A. Designer ' || i % 97,
      timestamptz '2026-01-01Z' + e % 300 * interval '1 day', timestamptz '2026-01-01Z' + random() * interval '300 days'
    from generate_series($1::integer, $2::integer) i
    cross join lateral (select ceil($3::float8 * case when i % 100 = 0 then 20 when i % 10 = 0 then 4 else 0.49 end)::integer)
      as sizes (size)
    cross join lateral generate_series(1, size) d
    cross join lateral (select case when d <= size / 5 then 0
      when i % 100 = 0 then 1 + d % (size * 2 / 5) else 1 + d % (size / 10) end) as events (e)
    order by random()`,
    [first, last, perOwner],
  );
}

/** NDJSON of docs/feed.md: half changes of designs, half new ones, of owners by chance. */
export async function feedLines(client: Client, lines: number, designs: number): Promise<string[]> {
  const { rows } = await client.query<{ line: string }>(
    `select json_build_object('op', 'upsert', 'owner', owner, 'id', case when n % 2 = 0 then id else 'n-' || n || id end,
      'revision', revision + 1, 'localId', local_id, 'eventId', event_id, 'title', title || ', changed',
      'eventName', event_name, 'eventDate', event_date, 'updatedAt', now(), 'authorName', author_name,
      'shortDescr', short_descr)::text as line
    from (
      select *, row_number() over () as n from (
        select * from designs tablesample bernoulli ($1::float4) where deleted_at is null order by random()
      ) limit $2
    )`,
    [Math.min(100, (120 * lines) / designs), lines],
  );
  return rows.map(({ line }) => line);
}
