// Table `client_conduct`: what each client did on each of the last 90 days.
import { milliseconds, type Queries } from '@course-exchange/runtime/postgres/pool';
import type { ActCount, Total } from './conduct.ts';

const keptDays = 90;

// Index: client_conduct_day.
const clean = {
  name: 'delete old conduct',
  text: `delete from client_conduct where day <= (now() at time zone 'UTC')::date - ${keptDays}`,
};

// In key order, so that two processes cannot deadlock.
const add = {
  name: 'count conduct',
  text: `insert into client_conduct as kept (client_id, day, act, count, last_at, request_id)
    select "clientId", day, act, count, to_timestamp("lastAt" / 1000), "requestId"
      from json_to_recordset($1)
        as counted ("clientId" text, day date, act text, count bigint, "lastAt" float8, "requestId" text)
      order by "clientId", day, act
    on conflict (client_id, day, act) do update set count = kept.count + excluded.count,
      last_at = greatest(kept.last_at, excluded.last_at),
      request_id = case when excluded.last_at < kept.last_at then kept.request_id else excluded.request_id end`,
};

/** In one statement, after deleting what is older than 90 days. */
export async function addConduct(queries: Queries, counts: readonly ActCount[]): Promise<void> {
  await queries.query(clean, []);
  await queries.query(add, [JSON.stringify(counts)]);
}

// Index: client_conduct_pkey.
const totals = {
  name: 'conduct of a client',
  text: `select act, sum(count)::float8 as count, ${milliseconds('max(last_at)')} as "lastAt",
      (array_agg(request_id order by last_at desc))[1] as "requestId"
    from client_conduct
    where client_id = $1 and day > (now() at time zone 'UTC')::date - ${keptDays}
      and day >= coalesce((to_timestamp($2::float8 / 1000) at time zone 'UTC')::date, '-infinity')
    group by act`,
};

/** Each act once, with the last one's time and request. `since`: of its whole day; undefined: of 90 days. */
export async function readConduct(queries: Queries, clientId: string, since: number | undefined) {
  return queries.query<Total>(totals, [clientId, since ?? null]);
}
