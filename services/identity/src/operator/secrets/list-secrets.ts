// The secrets of a client, with the last use of each.
import { type IssuedSecret, readSecrets } from '../../store/postgres/issued-secrets.ts';
import { readClient } from '../../store/postgres/registered-clients.ts';
import { type Desk, notFound } from '../desk.ts';

/** Newest first; retired and expired ones too. Throws `not_found`. */
export async function listSecrets(desk: Desk, clientId: string): Promise<readonly IssuedSecret[]> {
  const client = await readClient(desk.database, desk.environment, clientId);
  if (client === undefined) throw notFound(`client ${clientId}`);
  return readSecrets(desk.database, [client.dossier.clientId]);
}
