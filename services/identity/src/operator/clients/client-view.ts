// A client as an operator is shown it: with its approvals, its secrets, and what asks for attention.

import type { Queries } from '@course-exchange/runtime/postgres';
import { opens, secretState } from '../../domain/client-secret.ts';
import { dossierGaps } from '../../domain/dossier.ts';
import { type Approval, readApprovals } from '../../store/postgres/client-approvals.ts';
import { type IssuedSecret, readSecrets } from '../../store/postgres/issued-secrets.ts';
import type { RegisteredClient } from '../../store/postgres/registered-clients.ts';

export interface ClientView extends RegisteredClient {
  /** Oldest first. */
  readonly approvals: readonly Approval[];
  /** Newest first. */
  readonly secrets: readonly IssuedSecret[];
  /** A sentence each. */
  readonly gaps: readonly string[];
  readonly warnings: readonly string[];
}

export async function viewClients(
  queries: Queries,
  clients: readonly RegisteredClient[],
  now: number,
): Promise<ClientView[]> {
  const ids = clients.map(({ dossier }) => dossier.clientId);
  const approvals = await readApprovals(queries, ids);
  const secrets = await readSecrets(queries, ids);
  return clients.map((client) => {
    const own = ({ clientId }: { readonly clientId: string }) => clientId === client.dossier.clientId;
    const ownSecrets = secrets.filter(own);
    return {
      ...client,
      approvals: approvals.filter(own),
      secrets: ownSecrets,
      gaps: dossierGaps(client.dossier),
      warnings: warningsOf(client, ownSecrets, now),
    };
  });
}

export async function viewClient(
  queries: Queries,
  client: RegisteredClient,
  now: number,
): Promise<ClientView> {
  const [view] = await viewClients(queries, [client], now);
  if (view === undefined) throw new Error('one client gives one view');
  return view;
}

function warningsOf(
  { active }: RegisteredClient,
  secrets: readonly IssuedSecret[],
  now: number,
): readonly string[] {
  const near = secrets
    .filter((secret) => secretState(secret, now) === 'near-expiry')
    .map(({ secretId, expiresAt }) => {
      const day = new Date(expiresAt ?? 0).toISOString().slice(0, 16);
      return `Secret ${secretId} expires at ${day}Z.`;
    });
  const none =
    active && !secrets.some((secret) => opens(secret, now))
      ? ['The client is active without a valid secret.']
      : [];
  return [...near, ...none];
}
