// A dossier in place of the present one. What it changes holds at the client's next request (R13).
import { type Dossier, dossierMistakes } from '../../domain/dossier.ts';
import { type Desk, type Order, type Outcome, requireNoMistake } from '../desk.ts';
import { changeClient } from './client-change.ts';
import type { ClientView } from './client-view.ts';

/** Throws `invalid_argument`, `not_found`, and `conflict` when the client is not in `expectedVersion`. Atomic. */
export async function editClient(
  desk: Desk,
  order: Order,
  { dossier, expectedVersion }: { readonly dossier: Dossier; readonly expectedVersion: number },
): Promise<Outcome<ClientView>> {
  requireNoMistake([
    ...dossierMistakes(dossier, desk.environment),
    ...(expectedVersion === 0 ? ['The version that was read is missing.'] : []),
  ]);
  return changeClient(desk, order, {
    action: 'client.edit',
    clientId: dossier.clientId,
    expectedVersion,
    change: (client) => ({ ...client, dossier }),
  });
}
