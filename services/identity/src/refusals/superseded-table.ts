// Table `superseded_families`: identity_rw writes and cleans, operators read it with the refusals.
import { allRows, onlyRow, type Queries } from '@course-exchange/runtime/postgres/pool';
import type { ClientId } from '../ids.ts';
import type { ReasonOf } from '../security-events.ts';
import type { EarlierRequest } from './reasons.ts';

/** By the request that ended it, or had revoked it before. */
export interface EndedFamily extends EarlierRequest {
  /** Keyed hash. */
  readonly family: string;
  readonly clientId: ClientId;
  readonly revoked: ReasonOf<'grant.revoked'>;
}

const insert = allRows<never, [json: string]>(
  'record superseded families',
  `insert into superseded_families (family_hash, client_id, request_id, at, revoked)
    select family, "clientId", "requestId", to_timestamp(at / 1000), revoked
    from json_to_recordset($1) as ended (family text, "clientId" text, "requestId" text, at float8, revoked text)
    on conflict do nothing`,
);

/** One statement. */
export async function insertSupersededFamilies(
  queries: Queries,
  ended: readonly EndedFamily[],
): Promise<void> {
  await insert(queries, JSON.stringify(ended));
}

const cleanedAtOnce = 5_000;

// A refusal of the last day on which it names a family is explained for seven more. Index: superseded_families_at.
const deleteSome = onlyRow<{ count: number }, [most: number]>(
  'delete old superseded families',
  `with gone as (
      delete from superseded_families where family_hash in (
        select family_hash from superseded_families
        where at <= greatest(now() - interval '14 days',
          (select at from superseded_families order by at desc offset $1 limit 1))
        order by at limit ${cleanedAtOnce}
      ) returning 1)
    select count(*)::integer as count from gone`,
);

/** Deletes what is too old, then the oldest beyond `most`. Returns how many. Safe in several processes at once. */
export async function cleanSupersededFamilies(queries: Queries, most = 500_000): Promise<number> {
  const { count } = await deleteSome(queries, most);
  return count < cleanedAtOnce ? count : count + (await cleanSupersededFamilies(queries, most));
}
