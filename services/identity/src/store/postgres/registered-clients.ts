// Table `clients` as operators see and change it. Changes take the row's lock first, so that of two operators
// one sees the other's work.
import type { Queries } from '@course-exchange/runtime/postgres';
import type { ApprovalState, ClientState } from '../../domain/client-approval.ts';
import type { Contact, Dossier, Environment } from '../../domain/dossier.ts';
import type { ClientId } from '../../domain/ids.ts';
import type { Scope } from '../../domain/scope.ts';

/** Times in milliseconds since the epoch. */
export interface RegisteredClient extends ClientState {
  /** Grows by one with each change. */
  readonly version: number;
  readonly createdAt: number;
  readonly changedAt: number;
}

/** What the column `dossier` holds: the parts that no other column does. */
interface DossierColumn {
  readonly technicalContact?: Contact;
  readonly credentialContacts?: readonly Contact[];
  /** Of the environment that this installation is not. */
  readonly otherRedirectUris?: readonly string[];
  readonly userJourney?: string;
  readonly logoutRequirements?: string;
  readonly unlinkingRequirements?: string;
  readonly retentionRequirements?: string;
}

interface Row {
  readonly clientId: ClientId;
  readonly name: string;
  readonly active: boolean;
  readonly scopes: readonly Scope[];
  readonly redirectUris: readonly string[];
  readonly dossier: DossierColumn;
  readonly approvalState: ApprovalState;
  readonly version: number;
  readonly createdAt: number;
  readonly changedAt: number;
}

const columns = `client_id as "clientId", name, active, scopes, redirect_uris as "redirectUris", dossier,
    approval_state as "approvalState", version,
    (extract(epoch from created_at) * 1000)::float8 as "createdAt",
    (extract(epoch from changed_at) * 1000)::float8 as "changedAt"`;

// Index: clients_pkey.
const one = { name: 'registered client', text: `select ${columns} from clients where client_id = $1` };
const oneLocked = { name: 'registered client for change', text: `${one.text} for update` };
const all = { name: 'registered clients', text: `select ${columns} from clients order by client_id` };
const allLocked = { name: 'registered clients for change', text: `${all.text} for update` };

export async function readClient(
  database: Queries,
  own: Environment,
  clientId: string,
  lock: 'read' | 'lock' = 'read',
): Promise<RegisteredClient | undefined> {
  const [row] = await database.query<Row>(lock === 'lock' ? oneLocked : one, [clientId]);
  return row && toClient(row, own);
}

/** By client id. Locking takes every row. */
export async function readClients(
  database: Queries,
  own: Environment,
  lock: 'read' | 'lock' = 'read',
): Promise<RegisteredClient[]> {
  const rows = await database.query<Row>(lock === 'lock' ? allLocked : all, []);
  return rows.map((row) => toClient(row, own));
}

const insert = {
  name: 'register client',
  text: `insert into clients (client_id, name, scopes, redirect_uris, dossier, approval_state, active)
    values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing returning ${columns}`,
};

/** Undefined when a client of that id is there already. */
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
  text: `update clients set name = $2, scopes = $3, redirect_uris = $4, dossier = $5, approval_state = $6,
      active = $7, version = version + 1, changed_at = now()
    where client_id = $1 returning ${columns}`,
};

/** Writes `client` over the locked row. */
export async function updateClient(
  queries: Queries,
  own: Environment,
  client: ClientState,
): Promise<RegisteredClient> {
  const [row] = await queries.query<Row>(update, valuesOf(client, own));
  if (row === undefined) throw new Error('a locked client is gone');
  return toClient(row, own);
}

function valuesOf({ dossier, active, approvalState }: ClientState, own: Environment): unknown[] {
  const { clientId, name, scopes, redirectUris, ...rest } = dossier;
  const kept: DossierColumn = { ...rest, otherRedirectUris: redirectUris[otherThan(own)] };
  return [clientId, name, scopes, redirectUris[own], JSON.stringify(kept), approvalState, active];
}

const nobody: Contact = { name: '', email: '', phone: '' };

function toClient({ clientId, name, scopes, redirectUris, dossier, ...row }: Row, own: Environment) {
  const { otherRedirectUris = [], ...kept } = dossier;
  const uris = { [own]: redirectUris, [otherThan(own)]: otherRedirectUris };
  const whole: Dossier = {
    ...{ technicalContact: nobody, credentialContacts: [], userJourney: '', logoutRequirements: '' },
    ...{ unlinkingRequirements: '', retentionRequirements: '' },
    ...kept,
    ...{ clientId, name, scopes },
    redirectUris: { test: uris.test ?? [], production: uris.production ?? [] },
  };
  return { ...row, dossier: whole };
}

function otherThan(own: Environment): Environment {
  return own === 'test' ? 'production' : 'test';
}
