// The restore fence's reads of the audit log, and its writes over whole tables, in batches by primary key.
import type { AuditedChange, AuditHead } from '@course-exchange/runtime/audit/table';
import { allRows, milliseconds, onlyRow, type Queries } from '@course-exchange/runtime/postgres/pool';

const batch = 10_000;

/** `$3`: the only value. Returns how many rows changed. */
function changeAll<Values extends readonly unknown[]>(
  name: string,
  { table, key, set, where }: Readonly<Record<'table' | 'key' | 'set' | 'where', string>>,
) {
  type Page = { readonly last: string | null; readonly changed: number };
  const change = onlyRow<Page, [after: string, limit: number, ...Values]>(
    name,
    `with page as (select ${key} as key from ${table} where ${key} > $1 order by ${key} limit $2),
    changed as (update ${table} set ${set}
      where ${key} > $1 and ${key} <= (select max(key) from page) and ${where} returning 1)
    select max(key) as last, (select count(*)::int from changed) as changed from page`,
  );
  return async (queries: Queries, ...values: Values): Promise<number> => {
    let all = 0;
    for (let after = ''; ; ) {
      const page = await change(queries, after, batch, ...values);
      if (page.last === null) return all;
      all += page.changed;
      after = page.last;
    }
  };
}

/** Ends what was issued up to `now` (milliseconds since the epoch). Index: users_pkey. */
export const signOutEverybody = changeAll<[now: number]>('sign out users', {
  table: 'users',
  key: 'sub',
  set: 'signed_out_at = to_timestamp($3::float8 / 1000)',
  where: '(signed_out_at is null or signed_out_at < to_timestamp($3::float8 / 1000))',
});

/** Index: consents_pkey; consents_current would be read whole for each page. */
export const withdrawEveryConsent = changeAll<[]>('withdraw consents', {
  table: 'consents',
  key: 'consent_id',
  set: 'withdrawn_at = now()',
  where: `coalesce(withdrawn_at, 'infinity') = 'infinity'`,
});

/** `sequences`: of the entries; null reads the whole table. */
export const findEntries = allRows<
  AuditHead,
  [hashes: readonly string[], sequences: readonly number[] | null]
>(
  'audit entries by hash',
  `select sequence::float8 as sequence, encode(hash, 'hex') as hash from audit_log
    where ($2::bigint[] is null or sequence = any($2)) and hash in (select decode(h, 'hex') from unnest($1::text[]) as h)
    order by sequence`,
);

/** After `$1`: what may have restored something. */
export const listRestores = allRows<AuditedChange & { sequence: number; at: number }, [number, string[]]>(
  'audit entries that restore',
  `select sequence::float8 as sequence, ${milliseconds('at')} as at, action, object, fields from audit_log
    where sequence > $1 and (action = any($2::text[]) or action like 'client.%')`,
);
