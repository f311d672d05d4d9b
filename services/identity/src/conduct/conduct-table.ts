// Table `client_conduct`: what each client did on each of the last 90 days.
import { allRows, milliseconds, type Queries } from '@course-exchange/runtime/postgres/pool';
import type { ActCount, Total } from './conduct.ts';

const keptDays = 90;

/** Index: client_conduct_day. */
export const deleteOldConduct = allRows(
  'delete old conduct',
  `delete from client_conduct where day <= (now() at time zone 'UTC')::date - ${keptDays}`,
);

// In key order, so that two processes cannot deadlock.
const add = allRows<never, [json: string]>(
  'count conduct',
  `insert into client_conduct as kept (client_id, day, act, count, last_at, request_id)
    select "clientId", day, act, count, to_timestamp("lastAt" / 1000), "requestId"
      from json_to_recordset($1)
        as counted ("clientId" text, day date, act text, count bigint, "lastAt" float8, "requestId" text)
      order by "clientId", day, act
    on conflict (client_id, day, act) do update set count = kept.count + excluded.count,
      last_at = greatest(kept.last_at, excluded.last_at),
      request_id = case when excluded.last_at < kept.last_at then kept.request_id else excluded.request_id end`,
);

/** In one statement. */
export async function addConduct(queries: Queries, counts: readonly ActCount[]): Promise<void> {
  await add(queries, JSON.stringify(counts));
}

/**
 * Each act once, with the last one's time and request. `since`: milliseconds, of its whole day; null: of 90 days.
 * Index: client_conduct_pkey.
 */
export const readConduct = allRows<Total, [clientId: string, since: number | null]>(
  'conduct of a client',
  `select act, sum(count)::float8 as count, ${milliseconds('max(last_at)')} as "lastAt",
      (array_agg(request_id order by last_at desc))[1] as "requestId"
    from client_conduct
    where client_id = $1 and day > (now() at time zone 'UTC')::date - ${keptDays}
      and day >= coalesce((to_timestamp($2::float8 / 1000) at time zone 'UTC')::date, '-infinity')
    group by act`,
);
