// Table `clients`, read fresh each time: a deactivation holds at the next request (R13).
import type { Queries } from '@course-exchange/runtime/postgres';
import type { ClientId } from '../../domain/ids.ts';
import type { Scope } from '../../domain/scope.ts';

export interface Client {
  readonly clientId: ClientId;
  /** As the partner registered it; shown to people. */
  readonly name: string;
  readonly active: boolean;
  /** Approved scopes; never empty. */
  readonly scopes: readonly Scope[];
  /** Registered redirect URIs, compared as raw strings (R3). */
  readonly redirectUris: readonly string[];
}

// Index: clients_pkey.
const byId = {
  name: 'client by id',
  text: `select client_id as "clientId", name, active, scopes, redirect_uris as "redirectUris"
    from clients where client_id = $1`,
};

/** The client named `clientId`, active or not. A text with a NUL is no client's name. */
export async function findClient(database: Queries, clientId: string): Promise<Client | undefined> {
  if (clientId.includes('\0')) return undefined;
  const [client] = await database.query<Client>(byId, [clientId]);
  return client;
}
