// Table `refusals`: identity_rw writes and cleans, operators read, joined with `superseded_families`.
import { allRows, milliseconds, onlyRow, type Queries } from '@course-exchange/runtime/postgres/pool';
import type { RefusalRecord } from './reasons.ts';

const insert = allRows<never, [json: string]>(
  'record refusals',
  `insert into refusals (client_authenticated, position, request_id, at, endpoint, client_id, code, reason,
      user_hash, family_hash, earlier_request_id, earlier_at, earlier_revoked)
    select "clientAuthenticated",
      nextval(case when "clientAuthenticated" then 'refusals_of_clients' else 'refusals_of_strangers' end),
      "requestId", to_timestamp(at / 1000), endpoint, "clientId", code, reason, "user", family,
      earlier ->> 'requestId', to_timestamp((earlier ->> 'at')::float8 / 1000), earlier ->> 'revoked'
    from json_to_recordset($1) as record ("requestId" text, at float8, endpoint text, "clientId" text,
      "clientAuthenticated" boolean, code text, reason text, "user" text, family text, earlier json)`,
);

/** One statement. */
export async function insertRefusals(queries: Queries, records: readonly RefusalRecord[]): Promise<void> {
  await insert(queries, JSON.stringify(records));
}

/** Authenticated clients' and strangers': two million (R34.1), less what may arrive between two cleanings. */
const mostRefusals = { clients: 1_400_000, strangers: 500_000 };

const cleanedAtOnce = 5_000;

/** Skips while another process deletes. */
const deletion = (name: string, which: string) =>
  onlyRow<{ count: number }, readonly unknown[]>(
    name,
    `with gone as (
      delete from refusals where (client_authenticated, position) in (
        select client_authenticated, position from refusals where ${which} limit ${cleanedAtOnce}
      ) and (select pg_try_advisory_xact_lock(hashtext('clean refusals'))) returning 1)
    select count(*)::integer as count from gone`,
  );

// Index: refusals_at.
const deleteOld = deletion('delete old refusals', `at < now() - interval '7 days' order by at`);
// Index: refusals_pkey. A lost insert's number deletes one row early, never late.
const deleteExcess = deletion(
  'delete excess refusals',
  `client_authenticated = $1 and position <= $2 + (
      select max(position) from refusals where client_authenticated = $1) order by position`,
);

/** Deletes records older than seven days, then the oldest beyond `most`. Returns how many. Safe in several processes at once. */
export async function cleanRefusals(queries: Queries, most = mostRefusals): Promise<number> {
  const statements = [
    [deleteOld, []],
    [deleteExcess, [true, -most.clients]],
    [deleteExcess, [false, -most.strangers]],
  ] as const;
  let cleaned = 0;
  for (const [deleteSome, values] of statements) {
    let gone: number;
    do {
      gone = (await deleteSome(queries, ...values)).count;
      cleaned += gone;
    } while (gone === cleanedAtOnce);
  }
  return cleaned;
}

const columns = `request_id as "requestId", ${milliseconds('at')} as at, endpoint, client_id as "clientId",
    client_authenticated as "clientAuthenticated", code, coalesce(ended_reason, reason) as reason, user_hash as "user",
    family_hash as family,
    case when coalesce(ended_at, earlier_at) is not null then json_strip_nulls(json_build_object(
      'requestId', coalesce(ended_by, earlier_request_id), 'at', ${milliseconds('coalesce(ended_at, earlier_at)')},
      'revoked', coalesce(ended_as, earlier_revoked))) end as earlier, position`;

// The second reason is that of builds before version 0.2.0 (`records.ts`).
/** What became of the family of a token that is not known, for seven days (R11.7). Index: superseded_families_pkey. */
const superseded = `left join lateral (
      select s.request_id as ended_by, s.at as ended_at, s.revoked as ended_as,
        'refresh_token_' || case s.revoked when 'superseded' then s.revoked else 'revoked' end as ended_reason
      from superseded_families s
      where refusals.reason in ('refresh_token_not_known', 'refresh_token.refused not_known')
        and s.family_hash = refusals.family_hash
        and s.client_id = refusals.client_id and refusals.at < s.at + interval '7 days') as superseded on true`;

/** Undefined matches everything. */
export interface RefusalFilter {
  readonly requestId: string | undefined;
  /** Authenticated or only named. */
  readonly clientId: string | undefined;
  readonly code: string | undefined;
  /** Milliseconds since the epoch. */
  readonly since: number | undefined;
  /** Not included. */
  readonly until: number | undefined;
}

/** Absent fields are null. A newer process may have written an unknown reason. */
export interface ListedRefusal extends Omit<RefusalRecord, 'reason'> {
  readonly reason: string;
  readonly position: string;
}

export interface RefusalPage {
  /** The last one of the page before. */
  readonly after: Pick<ListedRefusal, 'at' | 'clientAuthenticated' | 'position'> | undefined;
  readonly limit: number;
}

/** Newest first. Index: refusals_request, _client, _code, else _at. */
export async function listRefusals(
  queries: Queries,
  { requestId, clientId, code, since, until }: RefusalFilter,
  { after, limit }: RefusalPage,
): Promise<readonly ListedRefusal[]> {
  const named = Object.entries({ request_id: requestId, client_id: clientId, code });
  const given = named.filter(([, value]) => value !== undefined);
  const statement = {
    name: ['refusals', ...given.map(([column]) => column), ...(after ? ['after'] : [])].join(' '),
    text: `select ${columns} from refusals ${superseded}
      where at >= coalesce(to_timestamp($1::float8 / 1000), '-infinity')
        and at < coalesce(to_timestamp($2::float8 / 1000), 'infinity')
        ${given.map(([column], index) => `and ${column} = $${index + 4}`).join(' ')}
        ${after ? `and (at, position, client_authenticated) < (to_timestamp($${given.length + 4}::float8 / 1000), $${given.length + 5}::bigint, $${given.length + 6}::boolean)` : ''}
      order by refusals.at desc, position desc, client_authenticated desc limit $3`,
  };
  return queries.query<ListedRefusal>(statement, [
    since ?? null,
    until ?? null,
    limit,
    ...given.map(([, value]) => value),
    ...(after ? [after.at, after.position, after.clientAuthenticated] : []),
  ]);
}
