// One client's change: its row is locked and its version compared before, and the audit log has the differences.
import type { AuditedChange } from '@course-exchange/runtime/audit/table';
import {
  type Action,
  type AdminRequest,
  type AdminResult,
  type AdminTransaction,
  auditedTransaction,
  conflict,
  fieldChanges,
} from '../admin/context.ts';
import { type ClientState, clientFields, type RegisteredClient } from './client.ts';
import { updateClient } from './client-table.ts';
import { type ClientContext, type ClientView, requireClient, viewClient } from './view.ts';

export interface ChangeContext extends ClientContext {
  readonly pseudonymize: (text: string) => string;
  /** Whether another operator approves than the one of the client's last edit. */
  readonly approvalByAnother: boolean;
  readonly onUnversionedApproval: (clientId: string, actor: string) => void;
}

export interface VersionedClient {
  readonly clientId: string;
  /** That the operator has seen; 0: any. */
  readonly expectedVersion: number;
}

/** Throws `not_found`, `conflict`. Atomic. */
export async function changeClient(
  context: ChangeContext,
  request: AdminRequest,
  { clientId, expectedVersion }: VersionedClient,
  change: (
    transaction: AdminTransaction<ChangeContext>,
    before: RegisteredClient,
  ) => Promise<RegisteredClient>,
): Promise<AdminResult<ClientView>> {
  return auditedTransaction(context, request, async (transaction) => {
    const { queries, now } = transaction;
    const before = await requireClient(queries, transaction, clientId, 'lock');
    requireVersion(before, expectedVersion);
    return viewClient(queries, await change(transaction, before), now());
  });
}

/** Throws `conflict`; 0 matches every version. */
export function requireVersion({ registration, version }: RegisteredClient, expected: number): void {
  const { clientId } = registration;
  if (expected !== 0 && expected !== version)
    throw conflict(
      `Client ${clientId} was changed meanwhile: it is in version ${version}, you have seen version ${expected}. Look at it again with partnerctl client show ${clientId}, and at the changes with partnerctl audit list --client ${clientId}.`,
    );
}

/** The previous partnerctl names none; the next version of identity refuses that. */
export function warnWithoutVersion(
  { onUnversionedApproval }: ChangeContext,
  { actor }: AdminRequest,
  { clientId, expectedVersion }: VersionedClient,
): void {
  if (expectedVersion === 0) onUnversionedApproval(clientId, actor);
}

/** The row is locked. `more` goes into the audit log beside the differences. */
export async function writeClient(
  { queries, environment, pseudonymize, recordChange }: AdminTransaction<ChangeContext>,
  action: Action,
  before: RegisteredClient,
  after: ClientState,
  more: AuditedChange['fields'] = [],
): Promise<RegisteredClient> {
  const fields = fieldChanges(clientFields(before, pseudonymize), clientFields(after, pseudonymize));
  if (fields.length === 0) return before;
  const { clientId } = before.registration;
  recordChange({ action, object: `client:${clientId}`, clientId, fields: [...fields, ...more] });
  return updateClient(queries, environment, after);
}
