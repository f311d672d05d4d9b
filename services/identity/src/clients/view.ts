// A client as shown to operators: with approvals, secrets and warnings.
import type { Queries } from '@course-exchange/runtime/postgres/pool';
import { type AdminContext, notFound } from '../admin/context.ts';
import type { RegisteredClient } from './client.ts';
import { type Environment, isShown, registrationGaps } from './client-registration.ts';
import { type Approval, readApprovals, readClient, readNames } from './client-table.ts';
import { mixesAlphabets, skeletonOf } from './lookalike.ts';
import { isSecretValid, secretState } from './secret.ts';
import { type IssuedSecret, readSecrets } from './secret-table.ts';

export interface ClientContext extends AdminContext {
  readonly environment: Environment;
}

/** Throws `not_found`. */
export async function requireClient(
  queries: Queries,
  { environment }: Pick<ClientContext, 'environment'>,
  clientId: string,
  lock: 'read' | 'lock' = 'read',
): Promise<RegisteredClient> {
  const client = await readClient(queries, environment, clientId, lock);
  if (client === undefined) throw notFound(`client ${clientId}`);
  return client;
}

export interface ClientView extends RegisteredClient {
  /** Oldest first. */
  readonly approvals: readonly Approval[];
  /** Newest first. */
  readonly secrets: readonly IssuedSecret[];
  readonly gaps: readonly string[];
  readonly warnings: readonly string[];
}

export async function viewClients(
  queries: Queries,
  clients: readonly RegisteredClient[],
  now: number,
): Promise<ClientView[]> {
  const ids = clients.map(({ registration }) => registration.clientId);
  const approvals = await readApprovals(queries, ids);
  const secrets = await readSecrets(queries, ids);
  const names = (await readNames(queries)).map((one) => ({ ...one, skeleton: skeletonOf(one.name) }));
  return clients.map((client) => {
    const own = ({ clientId }: { readonly clientId: string }) => clientId === client.registration.clientId;
    const ownSecrets = secrets.filter(own);
    return {
      ...client,
      approvals: approvals.filter(own),
      secrets: ownSecrets,
      gaps: registrationGaps(client.registration),
      warnings: [...nameWarnings(client.registration, names), ...secretWarnings(client, ownSecrets, now)],
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

/** What an operator would not see: a name that imitates another client's. */
function nameWarnings(
  { clientId, name }: RegisteredClient['registration'],
  names: readonly { readonly clientId: string; readonly skeleton: string }[],
): readonly string[] {
  const own = skeletonOf(name);
  const alike = names.filter((one) => one.skeleton === own && one.clientId !== clientId);
  return [
    ...alike.map((one) => `The name looks like that of ${one.clientId}.`),
    ...(mixesAlphabets(name) ? ['A word of the name mixes letters of several alphabets.'] : []),
    ...(isShown(name) ? [] : ['The name has characters that cannot be seen: give another one.']),
  ];
}

function secretWarnings(
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
    active && !secrets.some((secret) => isSecretValid(secret, now))
      ? ['The client is active without a valid secret.']
      : [];
  return [...near, ...none];
}
