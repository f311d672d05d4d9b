// Clients as operators look at them.
import type { ApprovalState } from '../../domain/client-approval.ts';
import { readClient, readClients } from '../../store/postgres/registered-clients.ts';
import { type Desk, notFound } from '../desk.ts';
import type { Declaration } from './apply-clients.ts';
import { type ClientView, viewClient, viewClients } from './client-view.ts';

/** Throws `not_found`. */
export async function getClient(desk: Desk, clientId: string): Promise<ClientView> {
  const client = await readClient(desk.database, desk.environment, clientId);
  if (client === undefined) throw notFound(`client ${clientId}`);
  return viewClient(desk.database, client, desk.now());
}

export interface ClientFilter {
  readonly active: boolean | undefined;
  readonly approvalState: ApprovalState | undefined;
}

/** By client id. */
export async function listClients(
  desk: Desk,
  { active, approvalState }: ClientFilter,
): Promise<readonly ClientView[]> {
  const clients = (await readClients(desk.database, desk.environment)).filter(
    (client) =>
      (active === undefined || client.active === active) &&
      (approvalState === undefined || client.approvalState === approvalState),
  );
  return viewClients(desk.database, clients, desk.now());
}

/** Every client as a declaration that applies without a change. */
export async function exportClients(desk: Desk): Promise<readonly Declaration[]> {
  const clients = await readClients(desk.database, desk.environment);
  return clients.map(({ dossier, approvalState, active }) => ({ dossier, approvalState, active }));
}
