// Table `client_approvals`: who moved a client to which state, and when. Only added to.
import type { Queries } from '@course-exchange/runtime/postgres';
import type { ApprovalState } from '../../domain/client-approval.ts';
import type { ClientId } from '../../domain/ids.ts';

export interface Approval {
  readonly clientId: ClientId;
  readonly state: ApprovalState;
  readonly by: string;
  readonly note: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

const insert = {
  name: 'record approval',
  text: 'insert into client_approvals (client_id, state, operator, note) values ($1, $2, $3, $4)',
};

export async function recordApproval(queries: Queries, approval: Omit<Approval, 'at'>): Promise<void> {
  await queries.query(insert, [approval.clientId, approval.state, approval.by, approval.note]);
}

// Index: client_approvals_client.
const ofClients = {
  name: 'approvals of clients',
  text: `select client_id as "clientId", state, operator as by, note,
      (extract(epoch from approved_at) * 1000)::float8 as at
    from client_approvals where client_id = any($1) order by client_id, position`,
};

/** Oldest first. */
export async function readApprovals(database: Queries, clientIds: readonly ClientId[]): Promise<Approval[]> {
  return database.query<Approval>(ofClients, [clientIds]);
}
