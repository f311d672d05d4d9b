// Design changes for tests of the feed, and what they leave in the catalog.

import type pg from 'pg';
import type { Owner } from '../../services/design-catalog/src/events/event.ts';
import type { DesignChange } from '../../services/design-catalog/src/feed/change.ts';
import { repeatedly, writeBatch } from '../../services/design-catalog/src/feed/change-table.ts';
import { applyBatches } from '../../services/design-catalog/src/feed/feed.ts';
import type { CatalogDatabase } from './postgres.ts';

const plain = {
  ...{ title: 't', shortDescr: 's', localId: 'l', authorName: 'a', eventId: 'e', eventName: 'n' },
  ...{ eventDate: undefined, updatedAt: undefined },
};

type Text = string | undefined;
type Told = { readonly revision: number; readonly deleted?: boolean } & Partial<
  Readonly<Record<'owner' | 'id' | 'eventId' | 'eventName', string> & Record<'eventDate' | 'updatedAt', Text>>
>;

/** Changes at the positions 1, 2, 3 …, of design `d` of user `u` where nothing else is said. */
export function changes(...told: readonly Told[]): DesignChange[] {
  return told.map(({ owner = 'u', id = 'd', revision, deleted = false, ...design }, index) => ({
    position: BigInt(index + 1),
    owner: owner as Owner,
    id,
    revision: BigInt(revision),
    design: deleted ? undefined : { ...plain, ...design },
    deletedAt: deleted ? '2026-06-01T00:00:00Z' : undefined,
  }));
}

/** Who writes, where it does not matter. */
export const origin = { actor: 'local:platform', requestId: 'request-1', at: '2026-11-20T12:00:00.000Z' };

/** Applies `list` as the service does: through role catalog_feed, batch after batch. */
export function apply(
  { feed }: CatalogDatabase,
  list: readonly DesignChange[],
  { source = '', last = false, batch = 1_000 } = {},
) {
  async function* parts() {
    for (const change of list) yield { source, changes: [change], last: false };
    if (last) yield { source, changes: [], last };
  }
  const limits = { changes: batch, characters: 1_000_000, waitMs: 10_000 };
  return applyBatches({ write: (one) => repeatedly(() => writeBatch(feed, one, origin)), limits }, parts());
}

export async function designs({ writer }: CatalogDatabase): Promise<Record<string, unknown>[]> {
  const { rows } = await writer.query('select * from designs order by owner, id');
  return rows;
}

/** Events whose summary differs from a full recount, in either direction. Exact means none. */
export async function differences(writer: pg.Pool): Promise<unknown[]> {
  const recount = `
    select owner, event_id,
      (array_agg(event_name order by updated_at desc nulls last, id))[1] as name,
      min(event_date) as start_date, max(event_date) as end_date, max(updated_at) as updated_at,
      count(*)::integer as design_count
    from designs where deleted_at is null and event_id <> '' group by owner, event_id`;
  const columns = 'owner, event_id, name, start_date, end_date, updated_at, design_count';
  const expected = `select ${columns}, event_json(event_id, name, start_date, end_date, updated_at, design_count)
    from (${recount})`;
  const kept = `select ${columns}, public_json from event_summaries`;
  const { rows } = await writer.query(
    `((${expected}) except (${kept})) union all ((${kept}) except (${expected}))`,
  );
  return rows;
}
