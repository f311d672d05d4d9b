// What Postgres says at this moment about a client and a grant of its: one statement over clients,
// client_secrets, consents and users, because every token request needs all of it (R13).
import type { Queries } from '@course-exchange/runtime/postgres';
import { type ClientId, type ConsentId, isClientId, type Sub } from '../../domain/ids.ts';
import type { Scope } from '../../domain/scope.ts';
import { validSecretHashes } from './client-secrets.ts';

export interface ClientStanding {
  readonly clientId: ClientId;
  readonly active: boolean;
  readonly scopes: readonly Scope[];
  /** SHA-256 of each secret that is valid now, in hex. */
  readonly secretHashes: readonly string[];
}

/** The user and the consent behind a grant. */
export interface GrantStanding {
  readonly sub: Sub;
  readonly withdrawn: boolean;
  readonly disabled: boolean;
  /** Milliseconds since the epoch: grants issued up to here are dead (R13). */
  readonly signedOutAt: number | null;
  readonly email: string;
  readonly emailVerified: boolean;
  readonly name: string;
}

export interface Standing {
  /** Undefined when there is no such client. */
  readonly client: ClientStanding | undefined;
  /** Undefined when the consent is not this client's, or its user was deleted. */
  readonly grant: GrantStanding | undefined;
}

// Indexes: clients_pkey, client_secrets_pkey, consents_pkey, users_pkey.
export const standingStatement = {
  name: 'grant standing',
  text: `select c.client_id as "clientId", c.active, c.scopes, ${validSecretHashes} as "secretHashes",
      u.sub, k.withdrawn_at is not null as withdrawn, u.disabled_at is not null as disabled,
      (extract(epoch from u.signed_out_at) * 1000)::float8 as "signedOutAt",
      u.email, u.email_verified as "emailVerified", u.name
    from clients c
      left join consents k on k.consent_id = $2 and k.client_id = c.client_id
      left join users u on u.sub = k.sub
    where c.client_id = $1`,
};

type Row = ClientStanding & (GrantStanding | { readonly sub: null });

/** One read; `consentId` null: only the client is asked for. A name that no client can have is asked for all
 * the same, so that it takes no less time (R18). */
export async function readStanding(
  database: Queries,
  clientId: string,
  consentId: ConsentId | null,
): Promise<Standing> {
  const [row] = await database.query<Row>(standingStatement, [
    isClientId(clientId) ? clientId : '',
    consentId,
  ]);
  return { client: row, grant: row?.sub == null ? undefined : row };
}
