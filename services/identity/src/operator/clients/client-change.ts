// How one client is changed: its row is locked, its version compared, and what differs is written and noted.
import type { Queries } from '@course-exchange/runtime/postgres';
import { fieldChanges } from '../../domain/change.ts';
import type { ClientState } from '../../domain/client-approval.ts';
import { type RegisteredClient, readClient, updateClient } from '../../store/postgres/registered-clients.ts';
import { carryOut, conflict, type Desk, type Note, notFound, type Order, type Outcome } from '../desk.ts';
import { clientFields } from './client-fields.ts';
import { type ClientView, viewClient } from './client-view.ts';

export interface ClientChange {
  readonly action: string;
  readonly clientId: string;
  /** 0: whatever the version is. */
  readonly expectedVersion: number;
  /** The client as it shall be; throws `DetailedFailure` where that may not be. */
  readonly change: (client: RegisteredClient) => ClientState;
  /** Runs after a change was written. */
  readonly afterwards?: (queries: Queries) => Promise<void>;
}

/** Throws `not_found`, `conflict` and what `change` throws. Atomic. */
export async function changeClient(
  desk: Desk,
  order: Order,
  { action, clientId, expectedVersion, change, afterwards }: ClientChange,
): Promise<Outcome<ClientView>> {
  return carryOut(desk, order, async (queries, note) => {
    const before = await readClient(queries, desk.environment, clientId, 'lock');
    if (before === undefined) throw notFound(`client ${clientId}`);
    compareVersion(before, expectedVersion);
    const after = await writeClient(desk, queries, note, { action, before, after: change(before) });
    if (after.version !== before.version) await afterwards?.(queries);
    return viewClient(queries, after, desk.now());
  });
}

/** Throws `conflict` when the client is not in the version `expected`; 0 matches every version. */
export function compareVersion({ dossier, version }: RegisteredClient, expected: number): void {
  if (expected !== 0 && expected !== version)
    throw conflict(
      `Client ${dossier.clientId} was changed meanwhile: it is in version ${version}, you have seen version ${expected}.`,
    );
}

/** Writes and notes what differs; the client as it was when nothing does. `before` is locked. */
export async function writeClient(
  desk: Desk,
  queries: Queries,
  note: Note,
  step: { readonly action: string; readonly before: RegisteredClient; readonly after: ClientState },
): Promise<RegisteredClient> {
  const fields = fieldChanges(clientFields(desk, step.before), clientFields(desk, step.after));
  if (fields.length === 0) return step.before;
  const { clientId } = step.before.dossier;
  note({ action: step.action, object: `client:${clientId}`, clientId, fields });
  return updateClient(queries, desk.environment, step.after);
}
