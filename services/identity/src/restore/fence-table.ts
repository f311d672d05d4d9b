// The restore fence's writes over whole tables, in batches by primary key.
import type { Queries, Statement } from '@course-exchange/runtime/postgres/pool';

const batch = 10_000;

// Index: users_pkey.
const signOut = {
  name: 'sign out users',
  text: `with page as (select sub as key from users where sub > $1 order by sub limit $2),
    changed as (update users set signed_out_at = to_timestamp($3::float8 / 1000)
      where sub > $1 and sub <= (select max(key) from page)
        and (signed_out_at is null or signed_out_at < to_timestamp($3::float8 / 1000)) returning 1)
    select max(key) as last, (select count(*)::int from changed) as changed from page`,
};

/** Ends what was issued up to `now` (milliseconds since the epoch). */
export function signOutEverybody(queries: Queries, now: number): Promise<number> {
  return changeAll(queries, signOut, now);
}

// Index: consents_pkey; consents_current would be read whole for each page.
const withdraw = {
  name: 'withdraw consents',
  text: `with page as (select consent_id as key from consents where consent_id > $1 order by consent_id limit $2),
    changed as (update consents set withdrawn_at = now()
      where consent_id > $1 and consent_id <= (select max(key) from page)
        and coalesce(withdrawn_at, 'infinity') = 'infinity' returning 1)
    select max(key) as last, (select count(*)::int from changed) as changed from page`,
};

export function withdrawEveryConsent(queries: Queries): Promise<number> {
  return changeAll(queries, withdraw);
}

type Page = { readonly last: string | null; readonly changed: number };

async function changeAll(queries: Queries, change: Statement, ...values: unknown[]): Promise<number> {
  let all = 0;
  for (let after = ''; ; ) {
    const [page]: Page[] = await queries.query<Page>(change, [after, batch, ...values]);
    if (page === undefined || page.last === null) return all;
    all += page.changed;
    after = page.last;
  }
}
