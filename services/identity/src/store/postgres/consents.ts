// Table `consents`: what a user agreed to share with a client. At most one row per pair is current; a
// withdrawal ends it for good, so that what was issued under it stays dead (R13).
import type { Queries } from '@course-exchange/runtime/postgres';
import type { ClientId, ConsentId, Sub } from '../../domain/ids.ts';
import type { Scope } from '../../domain/scope.ts';

export interface Consent {
  readonly consentId: ConsentId;
  readonly scopes: readonly Scope[];
}

// Index: consents_current.
export const currentConsentStatement = {
  name: 'current consent',
  text: `select consent_id as "consentId", scopes from consents
    where sub = $1 and client_id = $2 and withdrawn_at is null`,
};

/** The consent that is not withdrawn; undefined when there is none. */
export async function findConsent(
  database: Queries,
  sub: Sub,
  clientId: ClientId,
): Promise<Consent | undefined> {
  const [consent] = await database.query<Consent>(currentConsentStatement, [sub, clientId]);
  return consent;
}

// One statement: of concurrent grants for one pair, one inserts and the others extend. Index: consents_current.
const grant = {
  name: 'grant consent',
  text: `insert into consents (consent_id, sub, client_id, scopes)
    select $1, $2, $3, $4::text[] where not exists (select from consents where consent_id = $1)
    on conflict (sub, client_id) where withdrawn_at is null do update
      set scopes = array(select distinct unnest(consents.scopes || excluded.scopes)), extended_at = now()
    returning consent_id as "consentId", scopes`,
};

/**
 * Records that the user agreed to `scopes`. A current consent is extended and keeps its identifier (R13);
 * else `newConsentId` names the new one. Atomic. Returns the consent as it stands now.
 */
export async function grantConsent(
  database: Queries,
  newConsentId: ConsentId,
  { sub, clientId, scopes }: { sub: Sub; clientId: ClientId; scopes: readonly Scope[] },
): Promise<Consent> {
  const [consent] = await database.query<Consent>(grant, [newConsentId, sub, clientId, scopes]);
  // Made before and withdrawn since: what is issued under it is dead from the start (R13).
  return consent ?? { consentId: newConsentId, scopes };
}
