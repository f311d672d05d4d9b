// Moves a client between draft, test and approved, and writes down who did.
import type { Queries } from '@course-exchange/runtime/postgres';
import { type ApprovalState, approvalObstacles, withApproval } from '../../domain/client-approval.ts';
import { recordApproval } from '../../store/postgres/client-approvals.ts';
import type { RegisteredClient } from '../../store/postgres/registered-clients.ts';
import { type Desk, type Note, type Order, type Outcome, refused, requireNoMistake } from '../desk.ts';
import { changeClient, writeClient } from './client-change.ts';
import type { ClientView } from './client-view.ts';

export interface ApprovalMove {
  readonly clientId: string;
  readonly state: ApprovalState;
  readonly note: string;
  /** 0: whatever the version is. */
  readonly expectedVersion: number;
}

const longestNote = 500;

/** Throws `not_found`, `conflict`, and `refused` with what the dossier lacks. Atomic. */
export async function setApproval(
  desk: Desk,
  order: Order,
  move: ApprovalMove,
): Promise<Outcome<ClientView>> {
  const { clientId, state, note, expectedVersion } = move;
  requireNoMistake(note.length > longestNote ? [`The note is longer than ${longestNote} characters.`] : []);
  let moved: RegisteredClient | undefined;
  return changeClient(desk, order, {
    action: 'client.approval',
    clientId,
    expectedVersion,
    change: (client) => {
      moved = client;
      return moveTo(desk, client, state);
    },
    afterwards: async (queries) => {
      if (moved)
        await recordApproval(queries, { clientId: moved.dossier.clientId, state, by: order.actor, note });
    },
  });
}

function moveTo(desk: Desk, client: RegisteredClient, state: ApprovalState): RegisteredClient {
  const obstacles = approvalObstacles(client, state);
  const { clientId } = client.dossier;
  if (obstacles.length > 0)
    throw refused(...obstacles.map((obstacle) => `Client ${clientId} cannot be ${state}: ${obstacle}`));
  return withApproval(client, state, desk.environment);
}

/** One step of an applied set: written and noted like an operator's own. */
export async function approveInSet(
  desk: Desk,
  { queries, note, actor }: { readonly queries: Queries; readonly note: Note; readonly actor: string },
  before: RegisteredClient,
  state: ApprovalState,
): Promise<RegisteredClient> {
  const after = moveTo(desk, before, state);
  const { clientId } = before.dossier;
  const written = await writeClient(desk, queries, note, { action: 'client.approval', before, after });
  await recordApproval(queries, { clientId, state, by: actor, note: 'applied from a declaration' });
  return written;
}
