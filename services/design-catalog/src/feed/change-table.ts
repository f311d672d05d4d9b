// Tables `designs` and `resume_points`: each batch in one transaction with its resume point and audit entry.
import { setTimeout as sleep } from 'node:timers/promises';
import { type AppendedHead, type AuditOrigin, appendToAudit } from '@course-exchange/runtime/audit/table';
import type { Database, Queries, Statement } from '@course-exchange/runtime/postgres/pool';
import { isState, stateOf } from '@course-exchange/runtime/postgres/sqlstate';
import { unavailable } from '@course-exchange/runtime/process/errors';
import {
  type Applied,
  appliedBatch,
  type ChangeBatch,
  type DesignChange,
  decidingChanges,
} from './change.ts';

// One statement, so that the triggers recount each Event once; sorted by key, so that batches cannot deadlock. A
// deletion blanks all but key, revision and time.
const writeChanges: Statement = {
  name: 'write design changes',
  text: `with written as (
      insert into designs as stored (owner, id, revision, local_id, event_id, title, event_name, short_descr,
        author_name, event_date, updated_at, deleted_at)
      select owner, id, revision, "localId", "eventId", coalesce(title, ''), coalesce("eventName", ''),
        coalesce("shortDescr", ''), "authorName", "eventDate", "updatedAt",
        case when deleted then coalesce("deletedAt", now()) end
      from json_to_recordset($1) as sent (owner text, id text, revision numeric, "localId" text, "eventId" text,
        title text, "eventName" text, "shortDescr" text, "authorName" text, "eventDate" timestamptz,
        "updatedAt" timestamptz, deleted boolean, "deletedAt" timestamptz)
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
  readonly head: AppendedHead;
}

/**
 * Atomic with event summaries, resume point and audit entry; ignores revisions that are not higher, so that it may be
 * repeated. Throws Postgres' error for a deadlock or serialization failure.
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
    if (source !== '' && last) await queries.query(forget, [source]);
    else if (source !== '' && position !== undefined) await queries.query(keep, [source, position]);
    const applied = { upserted, deleted, ignored: changes.length - upserted - deleted };
    const head = await appendToAudit(queries, origin, [appliedBatch(batch, applied)]);
    return { ...applied, head };
  });
}

type Counts = Pick<Applied, 'upserted' | 'deleted'>;

async function write(queries: Queries, changes: readonly DesignChange[]): Promise<Counts> {
  const none = { upserted: 0, deleted: 0 };
  if (changes.length === 0) return none;
  const sent = changes.map(({ owner, id, revision, deletedAt, design }) => {
    return { owner, id, revision: String(revision), deletedAt, deleted: design === undefined, ...design };
  });
  const [counts = none] = await queries.query<Counts>(writeChanges, [JSON.stringify(sent)]);
  return counts;
}

const find: Statement = {
  name: 'find resume point',
  text: 'select position from resume_points where source = $1',
};

// The farther of two streams of one source counts.
const keep: Statement = {
  name: 'keep resume point',
  text: `insert into resume_points as kept (source, position) values ($1, $2)
    on conflict (source) do update
    set position = greatest(kept.position, excluded.position), written_at = now()`,
};

const forget: Statement = {
  name: 'forget resume point',
  text: 'delete from resume_points where source = $1',
};

/** 0 when there is none. */
export async function findResumePoint(database: Queries, source: string): Promise<bigint> {
  const [row] = await database.query<{ position: string }>(find, [source]);
  return BigInt(row?.position ?? 0);
}

const attempts = 8;
const firstPauseMs = 10;

/** `write` must be atomic. Throws `temporarily_unavailable` after the last attempt. */
export async function repeatedly<T>(write: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await write();
    } catch (error) {
      if (!isState(stateOf(error), 'serialization_failure', 'deadlock_detected')) throw error;
      if (attempt + 1 === attempts) throw unavailable('Postgres', error);
    }
    await sleep(firstPauseMs * 2 ** attempt);
  }
}
