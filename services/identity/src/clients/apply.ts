// Makes the installation match a declared set of clients, all or nothing; a plan is the same, rolled back. No client
// is deleted, and in production none is approved.
import type { AuditedChange } from '@course-exchange/runtime/audit/table';
import {
  type AdminRequest,
  type AdminTransaction,
  auditedTransaction,
  conflict,
  type OperatorChange,
  requireNoProblem,
} from '../admin/context.ts';
import { insertDraft, writeActive } from './admin.ts';
import { approve, editRegistration } from './approval.ts';
import { type ChangeContext, requireVersion } from './change.ts';
import { type ApprovalState, approvalPath, type RegisteredClient } from './client.ts';
import { type ClientRegistration, registrationProblems } from './client-registration.ts';
import { readClients } from './client-table.ts';
import type { ClientContext } from './view.ts';

export interface Declaration {
  readonly registration: ClientRegistration;
  readonly approvalState: ApprovalState | undefined;
  readonly active: boolean | undefined;
}

export async function exportClients(context: ClientContext): Promise<readonly RegisteredClient[]> {
  return readClients(context.database, context.environment);
}

export interface DeclaredSet {
  readonly declarations: readonly Declaration[];
  readonly deactivateUndeclared: boolean;
  readonly note: string;
  /** By client id; 0: did not exist. Others are not compared. */
  readonly expectedVersions: ReadonlyMap<string, number>;
}

export interface PlannedClient {
  readonly clientId: string;
  readonly action: 'unchanged' | 'register' | 'change' | 'deactivate' | 'undeclared';
  readonly version: number;
  readonly changes: readonly AuditedChange[];
}

export async function applyClients(
  context: ChangeContext,
  request: AdminRequest,
  { declarations, deactivateUndeclared, note, expectedVersions }: DeclaredSet,
): Promise<readonly PlannedClient[]> {
  const { result } = await auditedTransaction(context, request, async (transaction) => {
    const clients = await readClients(transaction.queries, transaction.environment, 'lock');
    const present = new Map<string, RegisteredClient>(
      clients.map((client) => [client.registration.clientId, client]),
    );
    requireNoProblem(setProblems(declarations, present, context));
    requireVersions(present, expectedVersions);
    const declared = new Map<string, Declaration>(
      declarations.map((one) => [one.registration.clientId, one]),
    );
    const planned: PlannedClient[] = [];
    for (const clientId of [...new Set([...present.keys(), ...declared.keys()])].sort()) {
      const [before, declaration] = [present.get(clientId), declared.get(clientId)];
      const changes: AuditedChange[] = [];
      const recordChange = (change: OperatorChange) => {
        changes.push(change);
        transaction.recordChange(change);
      };
      const step = { ...transaction, recordChange };
      if (declaration) await applyOne(step, before, declaration, note);
      else if (before && deactivateUndeclared) await writeActive(step, before, false);
      const action = actionOf(before, declaration, changes);
      planned.push({ clientId, version: before?.version ?? 0, changes, action });
    }
    return planned;
  });
  return result;
}

function actionOf(
  before: RegisteredClient | undefined,
  declaration: Declaration | undefined,
  changes: readonly AuditedChange[],
): PlannedClient['action'] {
  if (before === undefined) return 'register';
  if (declaration) return changes.length > 0 ? 'change' : 'unchanged';
  return changes.length > 0 ? 'deactivate' : 'undeclared';
}

function setProblems(
  declarations: readonly Declaration[],
  present: ReadonlyMap<string, RegisteredClient>,
  { environment }: ClientContext,
): string[] {
  const ids = declarations.map(({ registration }) => registration.clientId);
  const twice = new Set(ids.filter((id, index) => ids.indexOf(id) < index));
  return [
    ...[...twice].map((id) => `Client ${id} is declared twice.`),
    ...declarations.flatMap(({ registration }) =>
      registrationProblems(registration, environment, present.get(registration.clientId)?.registration).map(
        (problem) => `Client ${registration.clientId}: ${problem}`,
      ),
    ),
  ];
}

function requireVersions(
  present: ReadonlyMap<string, RegisteredClient>,
  expected: ReadonlyMap<string, number>,
): void {
  for (const [clientId, version] of expected) {
    const client = present.get(clientId);
    if (client === undefined && version !== 0) throw conflict(`Client ${clientId} is gone.`);
    if (client && version === 0) throw conflict(`Client ${clientId} was registered meanwhile.`);
    if (client) requireVersion(client, version);
  }
}

async function applyOne(
  transaction: AdminTransaction<ChangeContext>,
  before: RegisteredClient | undefined,
  { registration, approvalState, active }: Declaration,
  note: string,
): Promise<void> {
  let client =
    before === undefined
      ? await insertDraft(transaction, registration)
      : await editRegistration(transaction, before, registration, note);
  const isJustEdited = client.version !== before?.version;
  if (active === false) client = await writeActive(transaction, client, false);
  const noted = { note: note || 'applied from a declaration', isJustEdited };
  for (const state of approvalPath(client.approvalState, approvalState ?? client.approvalState))
    client = await approve(transaction, client, { state, ...noted });
  if (active === true) await writeActive(transaction, client, true);
}
