// Table `consents` as operators see it: what was agreed, and its withdrawal (R13).
import type { Queries } from '@course-exchange/runtime/postgres';
import type { ClientId, ConsentId, Sub } from '../../domain/ids.ts';
import type { Scope } from '../../domain/scope.ts';

/** Times in milliseconds since the epoch. */
export interface RecordedConsent {
  readonly consentId: ConsentId;
  readonly sub: Sub;
  readonly clientId: ClientId;
  readonly scopes: readonly Scope[];
  readonly grantedAt: number;
  readonly extendedAt: number | null;
  readonly withdrawnAt: number | null;
  /** `grantedAt` to the microsecond, for the next page. */
  readonly position: string;
}

const milliseconds = (column: string) => `(extract(epoch from ${column}) * 1000)::float8`;
const columns = `consent_id as "consentId", sub, client_id as "clientId", scopes,
    ${milliseconds('granted_at')} as "grantedAt", ${milliseconds('extended_at')} as "extendedAt",
    ${milliseconds('withdrawn_at')} as "withdrawnAt", granted_at as position`;

const rest = `and ($2::text is null or client_id = $2) and ($3 or withdrawn_at is null)
      and ($4::timestamptz is null or (granted_at, consent_id) < ($4, $5))
    order by granted_at desc, consent_id desc limit $6`;
// Index: consents_of_user.
const ofUser = {
  name: 'consents of user',
  text: `select ${columns} from consents where sub = $1 ${rest}`,
};
// Index: consents_of_client.
const ofClient = {
  name: 'consents of client',
  text: `select ${columns} from consents where $1::text is null ${rest}`,
};

export interface ConsentPage {
  readonly includeWithdrawn: boolean;
  /** The last consent of the page before. */
  readonly after?: { readonly position: string; readonly consentId: string } | undefined;
  readonly limit: number;
}

/** Newest first; at least one of `sub` and `clientId` is named. */
export async function listConsents(
  database: Queries,
  { sub, clientId }: { readonly sub: string | null; readonly clientId: string | null },
  { includeWithdrawn, after, limit }: ConsentPage,
): Promise<RecordedConsent[]> {
  return database.query<RecordedConsent>(sub === null ? ofClient : ofUser, [
    ...[sub, clientId, includeWithdrawn],
    ...[after?.position ?? null, after?.consentId ?? null, limit],
  ]);
}

// Index: consents_current.
const withdraw = {
  name: 'withdraw consent',
  text: `update consents set withdrawn_at = now()
    where sub = $1 and client_id = $2 and withdrawn_at is null returning ${columns}`,
};

/** The consent that stood, withdrawn now; undefined when none stood. Atomic. */
export async function withdrawCurrent(
  queries: Queries,
  sub: Sub,
  clientId: string,
): Promise<RecordedConsent | undefined> {
  const [consent] = await queries.query<RecordedConsent>(withdraw, [sub, clientId]);
  return consent;
}
