// Table `resume_points`: how far each source of the feed is committed.
import type { Queries, Statement } from '@course-exchange/runtime/postgres';

const find: Statement = {
  name: 'find resume point',
  text: 'select position from resume_points where source = $1',
};

// Two streams of one source: what the farther one has committed stays committed.
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

/** The last committed position of `source`; 0 when there is none. */
export async function findResumePoint(database: Queries, source: string): Promise<bigint> {
  const [row] = await database.query<{ position: string }>(find, [source]);
  return BigInt(row?.position ?? 0);
}

export async function keepResumePoint(queries: Queries, source: string, position: bigint): Promise<void> {
  await queries.query(keep, [source, position]);
}

export async function forgetResumePoint(queries: Queries, source: string): Promise<void> {
  await queries.query(forget, [source]);
}
