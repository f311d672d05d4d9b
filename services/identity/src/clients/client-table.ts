// Tables `clients` and `client_approvals`. Requests read a client fresh (R13); operators change it under its row lock.
import { forUpdate, milliseconds, onlyRow, type Queries } from '@course-exchange/runtime/postgres/pool';
import type { ClientId } from '../ids.ts';
import type { ApprovalState, Client, ClientState, RegisteredClient } from './client.ts';
import type { ClientRegistration, Environment } from './client-registration.ts';

// Index: clients_pkey.
const byId = {
  name: 'client by id',
  text: `select client_id as "clientId", name, active, scopes, redirect_uris as "redirectUris"
    from clients where client_id = $1`,
};

/** Active or not. A NUL cannot be in an id. */
export async function findClient(database: Queries, clientId: string): Promise<Client | undefined> {
  if (clientId.includes('\0')) return undefined;
  const [client] = await database.query<Client>(byId, [clientId]);
  return client;
}

type RegistrationColumn = Partial<
  Omit<ClientRegistration, 'clientId' | 'name' | 'scopes' | 'redirectUris'>
> & {
  readonly otherRedirectUris?: readonly string[];
};

type Row = Client & Omit<RegisteredClient, 'registration'> & { readonly registration: RegistrationColumn };

const columns = `client_id as "clientId", name, active, scopes, redirect_uris as "redirectUris", registration,
    approval_state as "approvalState", version,
    ${milliseconds('created_at')} as "createdAt",
    ${milliseconds('changed_at')} as "changedAt"`;

// Index: clients_pkey.
const one = { name: 'registered client', text: `select ${columns} from clients where client_id = $1` };
const all = { name: 'registered clients', text: `select ${columns} from clients order by client_id` };

export async function readClient(
  database: Queries,
  own: Environment,
  clientId: string,
  lock: 'read' | 'lock' = 'read',
): Promise<RegisteredClient | undefined> {
  const [row] = await database.query<Row>(lock === 'lock' ? forUpdate(one) : one, [clientId]);
  return row && toClient(row, own);
}

export async function readClients(
  database: Queries,
  own: Environment,
  lock: 'read' | 'lock' = 'read',
): Promise<RegisteredClient[]> {
  const rows = await database.query<Row>(lock === 'lock' ? forUpdate(all) : all, []);
  return rows.map((row) => toClient(row, own));
}

const insert = {
  name: 'register client',
  text: `insert into clients (client_id, name, scopes, redirect_uris, registration, approval_state, active)
    values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing returning ${columns}`,
};

export async function insertClient(
  queries: Queries,
  own: Environment,
  client: ClientState,
): Promise<RegisteredClient | undefined> {
  const [row] = await queries.query<Row>(insert, valuesOf(client, own));
  return row && toClient(row, own);
}

const update = {
  name: 'change client',
  text: `update clients set name = $2, scopes = $3, redirect_uris = $4, registration = $5, approval_state = $6,
      active = $7, version = version + 1, changed_at = now()
    where client_id = $1 returning ${columns}`,
};

export async function updateClient(
  queries: Queries,
  own: Environment,
  client: ClientState,
): Promise<RegisteredClient> {
  return toClient(await onlyRow<Row>(queries, update, valuesOf(client, own)), own);
}

function valuesOf({ registration, active, approvalState }: ClientState, own: Environment): unknown[] {
  const { clientId, name, scopes, redirectUris, ...rest } = registration;
  const kept: RegistrationColumn = {
    ...rest,
    otherRedirectUris: redirectUris[own === 'test' ? 'production' : 'test'],
  };
  return [clientId, name, scopes, redirectUris[own], JSON.stringify(kept), approvalState, active];
}

function toClient({ clientId, name, scopes, redirectUris, registration, ...row }: Row, own: Environment) {
  const { otherRedirectUris = [], ...kept } = registration;
  const [test, production] =
    own === 'test' ? [redirectUris, otherRedirectUris] : [otherRedirectUris, redirectUris];
  const whole: ClientRegistration = {
    technicalContact: { name: '', email: '', phone: '' },
    credentialContacts: [],
    userJourney: '',
    logoutRequirements: '',
    unlinkingRequirements: '',
    retentionRequirements: '',
    ...kept,
    clientId,
    name,
    scopes,
    redirectUris: { test, production },
  };
  return { ...row, registration: whole };
}

export interface Approval {
  readonly clientId: ClientId;
  readonly state: ApprovalState;
  readonly by: string;
  readonly note: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

const insertApproval = {
  name: 'record approval',
  text: 'insert into client_approvals (client_id, state, operator, note) values ($1, $2, $3, $4)',
};

export async function recordApproval(queries: Queries, approval: Omit<Approval, 'at'>): Promise<void> {
  await queries.query(insertApproval, [approval.clientId, approval.state, approval.by, approval.note]);
}

// Index: client_approvals_client.
const ofClients = {
  name: 'approvals of clients',
  text: `select client_id as "clientId", state, operator as by, note,
      ${milliseconds('approved_at')} as at
    from client_approvals where client_id = any($1) order by client_id, position`,
};

/** Oldest first. */
export async function readApprovals(database: Queries, clientIds: readonly ClientId[]): Promise<Approval[]> {
  return database.query<Approval>(ofClients, [clientIds]);
}
