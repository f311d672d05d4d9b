// Operators' actions on one client, but for its approval.
import { DetailedFailure } from '@course-exchange/runtime/process/errors';
import {
  type AdminAction,
  type AdminTransaction,
  auditedTransaction,
  fieldChanges,
  refused,
  requireNoProblem,
} from '../admin/context.ts';
import { editRegistration } from './approval.ts';
import {
  type ChangeContext,
  changeClient,
  type VersionedClient,
  warnWithoutVersion,
  writeClient,
} from './change.ts';
import {
  type ApprovalState,
  activationObstacle,
  type ClientState,
  clientFields,
  type RegisteredClient,
} from './client.ts';
import { type ClientRegistration, registrationProblems } from './client-registration.ts';
import { insertClient, readClients } from './client-table.ts';
import { issueSecret, type PlainSecret, type SecretContext, secretLifetimeProblems } from './secret-admin.ts';
import { type ClientContext, type ClientView, requireClient, viewClient, viewClients } from './view.ts';

/** Throws `not_found`. */
export async function getClient(context: ClientContext, clientId: string): Promise<ClientView> {
  const client = await requireClient(context.database, context, clientId);
  return viewClient(context.database, client, context.now());
}

interface ClientFilter {
  readonly active: boolean | undefined;
  readonly approvalState: ApprovalState | undefined;
}

export async function listClients(
  { database, environment, now }: ClientContext,
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
export const registerClient: AdminAction<
  NewClient,
  RegisteredWithSecret,
  ChangeContext & SecretContext
> = async (context, request, { registration, firstSecret }) => {
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
  { queries, environment, pseudonymize, recordChange }: AdminTransaction<ChangeContext>,
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
  readonly note: string;
}

/** Effective at the next request (R13.8). Throws `invalid_argument`, `not_found`, `conflict`, `refused`. Atomic. */
export const editClient: AdminAction<Edit, ClientView, ChangeContext> = async (
  context,
  request,
  { registration, expectedVersion, note },
) => {
  requireNoProblem(expectedVersion === 0 ? ['The version that was read is missing.'] : []);
  const { clientId } = registration;
  return changeClient(context, request, { clientId, expectedVersion }, async (transaction, before) => {
    requireNoProblem(registrationProblems(registration, context.environment, before.registration));
    return editRegistration(transaction, before, registration, note);
  });
};

/** Throws `not_found`, `conflict`, and `refused` when its approval forbids it. Atomic. */
export const setActive: AdminAction<
  VersionedClient & { readonly active: boolean },
  ClientView,
  ChangeContext
> = async (context, request, activation) =>
  changeClient(context, request, activation, (transaction, before) => {
    if (activation.active) warnWithoutVersion(context, request, activation);
    return writeActive(transaction, before, activation.active);
  });

/** Throws `refused`. */
export function writeActive(
  transaction: AdminTransaction<ChangeContext>,
  before: RegisteredClient,
  active: boolean,
): Promise<RegisteredClient> {
  const obstacle = active ? activationObstacle(before, transaction.environment) : undefined;
  if (obstacle !== undefined) throw refused(obstacle);
  const action = active ? 'client.activate' : 'client.deactivate';
  return writeClient(transaction, action, before, { ...before, active });
}
