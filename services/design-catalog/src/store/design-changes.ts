// Writes changes of the feed to table `designs`, a batch in one transaction with its resume point and its audit
// entry.
import { type AuditHead, type AuditOrigin, appendToAudit } from '@course-exchange/runtime/audit-log';
import type { Database, Queries, Statement } from '@course-exchange/runtime/postgres';
import { appliedBatch } from '../domain/audited-change.ts';
import {
  type Applied,
  type ChangeBatch,
  type DesignChange,
  decidingChanges,
} from '../domain/design-change.ts';
import { forgetResumePoint, keepResumePoint } from './resume-points.ts';

// One statement, so that the triggers count each touched Event once for the batch. Sorted by the key: two
// batches take their rows in the same order and do not wait for each other in a circle. A deletion blanks all
// but key, revision and time, so that the row is the same whichever changes came before it.
const writeChanges: Statement = {
  name: 'write design changes',
  text: `with written as (
      insert into designs as stored (owner, id, revision, local_id, event_id, title, event_name, short_descr,
        author_name, event_date, updated_at, deleted_at)
      select owner, id, revision, local_id, event_id, title, event_name, short_descr, author_name,
        event_date, updated_at, case when deleted then coalesce(deleted_at, now()) end
      from unnest($1::text[], $2::text[], $3::numeric[], $4::text[], $5::text[], $6::text[], $7::text[],
        $8::text[], $9::text[], $10::timestamptz[], $11::timestamptz[], $12::boolean[], $13::timestamptz[])
        as sent (owner, id, revision, local_id, event_id, title, event_name, short_descr, author_name,
          event_date, updated_at, deleted, deleted_at)
      order by owner collate "C", id collate "C"
      on conflict (owner, id) do update set revision = excluded.revision, local_id = excluded.local_id,
        event_id = excluded.event_id, title = excluded.title, event_name = excluded.event_name,
        short_descr = excluded.short_descr, author_name = excluded.author_name,
        event_date = excluded.event_date, updated_at = excluded.updated_at, deleted_at = excluded.deleted_at
      where excluded.revision > stored.revision
      returning deleted_at
    )
    select count(*) filter (where deleted_at is null)::integer as upserted,
      count(*) filter (where deleted_at is not null)::integer as deleted
    from written`,
};

export interface WrittenBatch extends Applied {
  /** The end of the audit log's chain. */
  readonly head: AuditHead;
}

/**
 * Applies the batch: all of it with its event summaries, its resume point and its audit entry, or nothing. Changes of a revision
 * that is not higher than the stored one are ignored, so it may be repeated. Throws what Postgres says of a
 * deadlock or a failed serialization as it stands; nothing is applied then.
 */
export function writeBatch(
  database: Database,
  batch: ChangeBatch,
  origin: AuditOrigin,
): Promise<WrittenBatch> {
  const { source, changes, last } = batch;
  const position = changes.at(-1)?.position;
  return database.transaction(async (queries) => {
    const { upserted, deleted } = await write(queries, decidingChanges(changes));
    if (source !== '' && last) await forgetResumePoint(queries, source);
    else if (source !== '' && position !== undefined) await keepResumePoint(queries, source, position);
    const applied = { upserted, deleted, ignored: changes.length - upserted - deleted };
    const head = await appendToAudit(queries, origin, [appliedBatch(batch, applied)]);
    return { ...applied, head };
  });
}

type Counts = Pick<Applied, 'upserted' | 'deleted'>;

async function write(queries: Queries, changes: readonly DesignChange[]): Promise<Counts> {
  const none = { upserted: 0, deleted: 0 };
  if (changes.length === 0) return none;
  const [counts = none] = await queries.query<Counts>(writeChanges, columnsOf(changes));
  return counts;
}

function columnsOf(changes: readonly DesignChange[]): unknown[][] {
  return [
    changes.map(({ owner }) => owner),
    changes.map(({ id }) => id),
    changes.map(({ revision }) => revision),
    changes.map(({ design }) => design?.localId),
    changes.map(({ design }) => design?.eventId),
    changes.map(({ design }) => design?.title ?? ''),
    changes.map(({ design }) => design?.eventName ?? ''),
    changes.map(({ design }) => design?.shortDescr ?? ''),
    changes.map(({ design }) => design?.authorName),
    changes.map(({ design }) => design?.eventDate),
    changes.map(({ design }) => design?.updatedAt),
    changes.map(({ design }) => design === undefined),
    changes.map(({ deletedAt }) => deletedAt),
  ];
}
