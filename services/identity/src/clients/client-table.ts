// Tables `clients`, `client_approvals`. Requests read a client fresh (R13.1); operators change it under its row lock.
import {
  allRows,
  firstRow,
  milliseconds,
  onlyRow,
  type Queries,
} from '@course-exchange/runtime/postgres/pool';
import type { ClientId } from '../ids.ts';
import type { ApprovalState, Client, ClientState, RegisteredClient } from './client.ts';
import type { ClientRegistration, Environment } from './client-registration.ts';

// Index: clients_pkey.
const byId = firstRow<Client, [clientId: string]>(
  'client by id',
  `select client_id as "clientId", name, active, scopes, redirect_uris as "redirectUris"
    from clients where client_id = $1`,
);

/** Active or not. A NUL cannot be in an id. */
export async function findClient(database: Queries, clientId: string): Promise<Client | undefined> {
  return clientId.includes('\0') ? undefined : byId(database, clientId);
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
const statements = (lock = '') => ({
  one: firstRow<Row, [clientId: string]>(
    `registered client${lock}`,
    `select ${columns} from clients where client_id = $1${lock}`,
  ),
  all: allRows<Row>(`registered clients${lock}`, `select ${columns} from clients order by client_id${lock}`),
});
const registered = { read: statements(), lock: statements(' for update') };

export async function readClient(
  database: Queries,
  own: Environment,
  clientId: string,
  lock: 'read' | 'lock' = 'read',
): Promise<RegisteredClient | undefined> {
  const row = await registered[lock].one(database, clientId);
  return row && toClient(row, own);
}

export async function readClients(
  database: Queries,
  own: Environment,
  lock: 'read' | 'lock' = 'read',
): Promise<RegisteredClient[]> {
  return (await registered[lock].all(database)).map((row) => toClient(row, own));
}

/** Of all clients. */
export const readNames = allRows<{ readonly clientId: ClientId; readonly name: string }>(
  'names of clients',
  'select client_id as "clientId", name from clients order by client_id',
);

const insert = firstRow<Row, unknown[]>(
  'register client',
  `insert into clients (client_id, name, scopes, redirect_uris, registration, approval_state, active)
    values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing returning ${columns}`,
);

export async function insertClient(
  queries: Queries,
  own: Environment,
  client: ClientState,
): Promise<RegisteredClient | undefined> {
  const row = await insert(queries, ...valuesOf(client, own));
  return row && toClient(row, own);
}

const update = onlyRow<Row, unknown[]>(
  'change client',
  `update clients set name = $2, scopes = $3, redirect_uris = $4, registration = $5, approval_state = $6,
      active = $7, version = version + 1, changed_at = now()
    where client_id = $1 returning ${columns}`,
);

export async function updateClient(
  queries: Queries,
  own: Environment,
  client: ClientState,
): Promise<RegisteredClient> {
  return toClient(await update(queries, ...valuesOf(client, own)), own);
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

export const recordApproval = allRows<
  never,
  [clientId: ClientId, state: ApprovalState, by: string, note: string]
>(
  'record approval',
  'insert into client_approvals (client_id, state, operator, note) values ($1, $2, $3, $4)',
);

const lastEdit = firstRow<{ readonly actor: string }, [object: string]>(
  'last edit of a client',
  `select actor from audit_log where object = $1 and action in ('client.register', 'client.edit')
    order by sequence desc limit 1`,
);

/** Undefined: from before the audit log. Index: audit_log_object. */
export async function findLastEditor(queries: Queries, clientId: ClientId): Promise<string | undefined> {
  return (await lastEdit(queries, `client:${clientId}`))?.actor;
}

/** Oldest first. Index: client_approvals_client. */
export const readApprovals = allRows<Approval, [clientIds: readonly ClientId[]]>(
  'approvals of clients',
  `select client_id as "clientId", state, operator as by, note,
      ${milliseconds('approved_at')} as at
    from client_approvals where client_id = any($1) order by client_id, position`,
);
