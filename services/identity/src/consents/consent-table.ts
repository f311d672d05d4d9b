// Table `consents`. Requests read the current consent fresh: a withdrawal takes effect at the next one (R13.3).
import { allRows, firstRow, milliseconds, type Queries } from '@course-exchange/runtime/postgres/pool';
import type { Scope } from '../clients/scope.ts';
import type { ClientId, ConsentId, Sub } from '../ids.ts';
import type { Consent, ConsentRecord } from './consent.ts';

/** Index: consents_current. */
export const findConsent = firstRow<Consent, [sub: Sub, clientId: ClientId]>(
  'current consent',
  `select consent_id as "consentId", scopes from consents
    where sub = $1 and client_id = $2 and withdrawn_at is null`,
);

// Concurrent grants: one inserts, the others extend. Index: consents_current.
const grant = firstRow<Consent, [ConsentId, Sub, ClientId, readonly Scope[]]>(
  'grant consent',
  `insert into consents (consent_id, sub, client_id, scopes)
    select $1, $2, $3, $4::text[] where not exists (select from consents where consent_id = $1)
    on conflict (sub, client_id) where withdrawn_at is null do update
      set scopes = array(select distinct unnest(consents.scopes || excluded.scopes)), extended_at = now()
    returning consent_id as "consentId", scopes`,
);

/** A current consent is extended and keeps its identifier (R13.6). Atomic. */
export async function grantConsent(
  database: Queries,
  newConsentId: ConsentId,
  { sub, clientId, scopes }: { sub: Sub; clientId: ClientId; scopes: readonly Scope[] },
): Promise<Consent> {
  const consent = await grant(database, newConsentId, sub, clientId, scopes);
  // Withdrawn since: what is issued under it is dead (R13.3).
  return consent ?? { consentId: newConsentId, scopes };
}

const columns = `consent_id as "consentId", sub, client_id as "clientId", scopes,
    ${milliseconds('granted_at')} as "grantedAt", ${milliseconds('extended_at')} as "extendedAt",
    ${milliseconds('withdrawn_at')} as "withdrawnAt", granted_at as position`;

const page = `and ($2::text is null or client_id = $2) and ($3 or withdrawn_at is null)
      and ($4::timestamptz is null or (granted_at, consent_id) < ($4, $5))
    order by granted_at desc, consent_id desc limit $6`;
// Index: consents_of_user.
const ofUser = allRows<ConsentRecord, unknown[]>(
  'consents of user',
  `select ${columns} from consents where sub = $1 ${page}`,
);
// Index: consents_of_client.
const ofClient = allRows<ConsentRecord, unknown[]>(
  'consents of client',
  `select ${columns} from consents where $1::text is null ${page}`,
);

export interface ConsentPage {
  readonly includeWithdrawn: boolean;
  readonly after?: { readonly position: string; readonly consentId: string } | undefined;
  readonly limit: number;
}

/** Newest first; needs `sub`, `clientId` or both. */
export async function listConsents(
  database: Queries,
  { sub, clientId }: { readonly sub: string | null; readonly clientId: string | null },
  { includeWithdrawn, after, limit }: ConsentPage,
): Promise<ConsentRecord[]> {
  const { position = null, consentId = null } = after ?? {};
  const list = sub === null ? ofClient : ofUser;
  return list(database, sub, clientId, includeWithdrawn, position, consentId, limit);
}

/** Index: consents_current. */
export const withdrawCurrent = firstRow<ConsentRecord, [sub: Sub, clientId: string]>(
  'withdraw consent',
  `update consents set withdrawn_at = now()
    where sub = $1 and client_id = $2 and withdrawn_at is null returning ${columns}`,
);
