// Operators' actions on one client. Its row is locked and its version compared before a change.

import type { AuditedChange } from '@course-exchange/runtime/audit/table';
import { DetailedFailure } from '@course-exchange/runtime/process/errors';
import {
  type Action,
  type AdminAction,
  type AdminContext,
  type AdminRequest,
  type AdminResult,
  type AdminTransaction,
  auditedTransaction,
  conflict,
  type Fields,
  fieldChanges,
  refused,
  requireNoProblem,
} from '../admin/context.ts';
import {
  type ApprovalState,
  activationObstacle,
  approvalObstacles,
  type ClientState,
  clientFields,
  type RegisteredClient,
  withApproval,
} from './client.ts';
import { type ClientRegistration, registrationProblems } from './client-registration.ts';
import { insertClient, readClients, recordApproval, updateClient } from './client-table.ts';
import { issueSecret, type PlainSecret, secretLifetimeProblems } from './secret-admin.ts';
import { type ClientView, requireClient, viewClient, viewClients } from './view.ts';

/** Throws `not_found`. */
export async function getClient(context: AdminContext, clientId: string): Promise<ClientView> {
  const client = await requireClient(context.database, context, clientId);
  return viewClient(context.database, client, context.now());
}

interface ClientFilter {
  readonly active: boolean | undefined;
  readonly approvalState: ApprovalState | undefined;
}

export async function listClients(
  { database, environment, now }: AdminContext,
  { active, approvalState }: ClientFilter,
): Promise<readonly ClientView[]> {
  const clients = (await readClients(database, environment)).filter(
    (client) =>
      (active === undefined || client.active === active) &&
      (approvalState === undefined || client.approvalState === approvalState),
  );
  return viewClients(database, clients, now());
}

interface NewClient {
  readonly registration: ClientRegistration;
  /** Undefined: no secret. Milliseconds; null: no expiry. */
  readonly firstSecret: { readonly expiresIn: number | null } | undefined;
}

interface RegisteredWithSecret {
  readonly client: ClientView;
  readonly secret: PlainSecret | undefined;
}

/** The secret leaves only here. Throws `invalid_argument`, `already_exists`. Atomic. */
export const registerClient: AdminAction<NewClient, RegisteredWithSecret> = async (
  context,
  request,
  { registration, firstSecret },
) => {
  requireNoProblem([
    ...registrationProblems(registration, context.environment),
    ...(firstSecret ? secretLifetimeProblems(firstSecret.expiresIn) : []),
  ]);
  return auditedTransaction(context, request, async (transaction) => {
    const client = await insertDraft(transaction, registration);
    const secret =
      firstSecret && (await issueSecret(transaction, registration.clientId, firstSecret.expiresIn));
    return {
      client: await viewClient(transaction.queries, client, context.now()),
      secret: request.dryRun ? undefined : secret,
    };
  });
};

/** Throws `already_exists`. */
export async function insertDraft(
  { queries, environment, pseudonymize, recordChange }: AdminTransaction,
  registration: ClientRegistration,
): Promise<RegisteredClient> {
  const draft: ClientState = { registration, active: false, approvalState: 'draft' };
  const client = await insertClient(queries, environment, draft);
  const { clientId } = registration;
  if (client === undefined)
    throw new DetailedFailure('already_exists', `There is a client ${clientId} already.`);
  const fields = fieldChanges({}, clientFields(draft, pseudonymize));
  recordChange({ action: 'client.register', object: `client:${clientId}`, clientId, fields });
  return client;
}

interface Edit {
  readonly registration: ClientRegistration;
  readonly expectedVersion: number;
}

/** Effective at the next request (R13.8). Throws `invalid_argument`, `not_found`, `conflict`. Atomic. */
export const editClient: AdminAction<Edit, ClientView> = async (
  context,
  request,
  { registration, expectedVersion },
) => {
  requireNoProblem(expectedVersion === 0 ? ['The version that was read is missing.'] : []);
  const { clientId } = registration;
  return changeClient(context, request, { clientId, expectedVersion }, async (transaction, before) => {
    requireNoProblem(registrationProblems(registration, context.environment, before.registration));
    return writeClient(transaction, 'client.edit', before, { ...before, registration });
  });
};

interface VersionedClient {
  readonly clientId: string;
  readonly expectedVersion: number;
}

interface ApprovalStep {
  readonly state: ApprovalState;
  readonly note: string;
  /** Confirmed to fit (specification §8), and kept in the audit log. */
  readonly confirmedVolume?: Fields | undefined;
}

const longestNote = 500;

/** Throws `not_found`, `conflict`, and `refused` with the gaps of the registration. Atomic. */
export const setApproval: AdminAction<VersionedClient & ApprovalStep, ClientView> = async (
  context,
  request,
  step,
) => {
  const tooLong = step.note.length > longestNote;
  requireNoProblem(tooLong ? [`The note is longer than ${longestNote} characters.`] : []);
  return changeClient(context, request, step, (transaction, before) => approve(transaction, before, step));
};

export async function approve(
  transaction: AdminTransaction,
  before: RegisteredClient,
  { state, note, confirmedVolume }: ApprovalStep,
): Promise<RegisteredClient> {
  const { clientId } = before.registration;
  const { environment } = transaction;
  const volumeConfirmed = confirmedVolume !== undefined;
  const obstacles = approvalObstacles(before, state, { environment, volumeConfirmed });
  if (obstacles.length > 0)
    throw refused(...obstacles.map((obstacle) => `Client ${clientId} cannot be ${state}: ${obstacle}`));
  const after = withApproval(before, state, environment);
  const confirmed = fieldChanges({}, { confirmed_volume: confirmedVolume });
  const written = await writeClient(transaction, 'client.approval', before, after, confirmed);
  if (written.version !== before.version)
    await recordApproval(transaction.queries, clientId, state, transaction.actor, note);
  return written;
}

/** Throws `not_found`, `conflict`, and `refused` when its approval forbids it. Atomic. */
export const setActive: AdminAction<VersionedClient & { readonly active: boolean }, ClientView> = async (
  context,
  request,
  activation,
) =>
  changeClient(context, request, activation, (transaction, before) =>
    writeActive(transaction, before, activation.active),
  );

/** Throws `refused`. */
export function writeActive(
  transaction: AdminTransaction,
  before: RegisteredClient,
  active: boolean,
): Promise<RegisteredClient> {
  const obstacle = active ? activationObstacle(before, transaction.environment) : undefined;
  if (obstacle !== undefined) throw refused(obstacle);
  const action = active ? 'client.activate' : 'client.deactivate';
  return writeClient(transaction, action, before, { ...before, active });
}

async function changeClient(
  context: AdminContext,
  request: AdminRequest,
  { clientId, expectedVersion }: VersionedClient,
  change: (transaction: AdminTransaction, before: RegisteredClient) => Promise<RegisteredClient>,
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
  if (expected !== 0 && expected !== version)
    throw conflict(
      `Client ${registration.clientId} was changed meanwhile: it is in version ${version}, you have seen version ${expected}.`,
    );
}

/** The row is locked. `more` goes into the audit log beside the differences. */
export async function writeClient(
  { queries, environment, pseudonymize, recordChange }: AdminTransaction,
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
