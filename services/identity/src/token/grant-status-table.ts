// The current client, user and consent, in one statement per token request (R13.1, R13.2, R13.3).
import { isClientId } from '@course-exchange/rules/access-token';
import { firstRead, milliseconds, type Reads } from '@course-exchange/runtime/postgres/pool';
import type { Client } from '../clients/client.ts';
import { validSecretHashes } from '../clients/secret-table.ts';
import type { ConsentId } from '../ids.ts';
import type { User } from '../users/user.ts';

export interface ClientStatus extends Pick<Client, 'clientId' | 'active' | 'scopes'> {
  /** In hex, of the valid secrets. */
  readonly secretHashes: readonly string[];
}

export interface GrantStatus extends User {
  /** Milliseconds since the epoch, as `disabledAt`. */
  readonly withdrawnAt: number | null;
  readonly disabledAt: number | null;
}

export interface LoadedStatus {
  readonly client: ClientStatus | undefined;
  /** Undefined when the consent is another client's, or its user was deleted. */
  readonly grant: GrantStatus | undefined;
}

type Row = ClientStatus & (GrantStatus | { readonly sub: null });

// Indexes: clients_pkey, client_secrets_pkey, consents_pkey, users_pkey.
const grantStatus = firstRead<Row, [clientId: string, consentId: ConsentId | null]>(
  'grant status',
  `select c.client_id as "clientId", c.active, c.scopes, ${validSecretHashes} as "secretHashes",
      u.sub, ${milliseconds('k.withdrawn_at')} as "withdrawnAt",
      u.disabled_at is not null as disabled, ${milliseconds('u.disabled_at')} as "disabledAt",
      ${milliseconds('u.signed_out_at')} as "signedOutAt",
      u.email, u.email_verified as "emailVerified", u.name
    from clients c
      left join consents k on k.consent_id = $2 and k.client_id = c.client_id
      left join users u on u.sub = k.sub
    where c.client_id = $1`,
);

/** `consentId` null: the client alone. An impossible client id is looked up, too, for equal time (R18.5). */
export async function loadGrantStatus(
  database: Reads,
  clientId: string,
  consentId: ConsentId | null,
): Promise<LoadedStatus> {
  const row = await grantStatus(database, isClientId(clientId) ? clientId : '', consentId);
  return { client: row, grant: row?.sub == null ? undefined : row };
}
