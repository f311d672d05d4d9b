// Operators' actions on the secrets of a client.
import {
  type AdminAction,
  type AdminRequest,
  type AdminResult,
  type AdminTransaction,
  auditedTransaction,
  fieldChanges,
  notFound,
  refused,
  refusedUntil,
  requireNoProblem,
  timeText,
} from '../admin/context.ts';
import type { ClientId, RandomBytes } from '../ids.ts';
import { digestSecret, newSecret } from '../secrets.ts';
import { isSecretValid, maxValidSecrets, unusedAt } from './secret.ts';
import {
  type IssuedSecret,
  insertSecret,
  readSecrets,
  resumeSuspendedSecret,
  retireIssuedSecret,
} from './secret-table.ts';
import { type ClientContext, requireClient } from './view.ts';

export interface SecretContext extends ClientContext {
  readonly randomBytes: RandomBytes;
}

/** Leaves the process once, in an operator's answer. */
export interface PlainSecret {
  readonly secretId: string;
  readonly plain: string | undefined;
  /** Milliseconds since the epoch; null: never. */
  readonly expiresAt: number | null;
}

const shortest = 60 * 1000;
const longest = 10 * 366 * 24 * 60 * 60 * 1000;

/** Milliseconds; null: no expiry. */
export function secretLifetimeProblems(expiresIn: number | null): string[] {
  const valid = expiresIn === null || (expiresIn >= shortest && expiresIn <= longest);
  return valid ? [] : ['A secret lasts from one minute to ten years.'];
}

/** Throws `invalid_argument`, `not_found`, `refused` (too many are valid). Atomic. */
export const addSecret: AdminAction<
  { readonly clientId: string; readonly expiresIn: number | null },
  PlainSecret,
  SecretContext
> = async (context, request, { clientId, expiresIn }) => {
  requireNoProblem(secretLifetimeProblems(expiresIn));
  return auditedTransaction(context, request, async (transaction) => {
    const client = await requireClient(transaction.queries, transaction, clientId, 'lock');
    const secret = await issueSecret(transaction, client.registration.clientId, expiresIn);
    return request.dryRun ? { ...secret, plain: undefined } : secret;
  });
};

/** The client's row is locked, or new. Throws `refused`. */
export async function issueSecret(
  { queries, now, randomBytes, recordChange }: AdminTransaction<SecretContext>,
  clientId: ClientId,
  expiresIn: number | null,
): Promise<PlainSecret> {
  const time = now();
  const valid = (await readSecrets(queries, [clientId])).filter((secret) => isSecretValid(secret, time));
  if (valid.length >= maxValidSecrets)
    throw refused(`Client ${clientId} has ${valid.length} valid secrets; retire one first.`);
  const plain = newSecret(randomBytes);
  const expiresAt = expiresIn === null ? null : time + expiresIn;
  const { secretId } = await insertSecret(queries, clientId, digestSecret(plain), expiresAt);
  const fields = fieldChanges({}, { expires_at: timeText(expiresAt) ?? 'never' });
  recordChange({ action: 'secret.add', object: `secret:${secretId}`, clientId, fields });
  return { secretId, plain, expiresAt };
}

/** Newest first, with retired and expired ones. Throws `not_found`. */
export async function listSecrets(
  context: ClientContext,
  clientId: string,
): Promise<readonly IssuedSecret[]> {
  const client = await requireClient(context.database, context, clientId);
  return readSecrets(context.database, [client.registration.clientId]);
}

interface NamedSecret {
  readonly clientId: string;
  readonly secretId: string;
}

export interface Retirement extends NamedSecret {
  /** For a compromised secret. */
  readonly evenIfInUse: boolean;
}

/**
 * Throws `not_found`, `refused` (the last valid one, or the only one used), `refused_until` (used within a day).
 * Atomic.
 */
export const retireSecret: AdminAction<Retirement, IssuedSecret, ClientContext> = (
  context,
  request,
  { evenIfInUse, ...named },
) => {
  return changeSecret(context, request, named, async (transaction, secret, secrets, active) => {
    if (secret.retiredAt !== null) return secret;
    if (!evenIfInUse) requireUnused(secret, secrets, active, transaction.now());
    return retire(transaction, secret);
  });
};

/** The client's row is locked. */
export async function retire(
  { queries, recordChange }: AdminTransaction,
  { secretId, clientId }: IssuedSecret,
): Promise<IssuedSecret> {
  const retired = await retireIssuedSecret(queries, secretId);
  const fields = fieldChanges({}, { retired_at: timeText(retired.retiredAt) });
  recordChange({ action: 'secret.retire', object: `secret:${secretId}`, clientId, fields });
  return retired;
}

/** Lifts a restore fence's suspension. Throws `not_found`, `refused` (it is retired). Atomic. */
export const resumeSecret: AdminAction<NamedSecret, IssuedSecret, ClientContext> = (
  context,
  request,
  named,
) => {
  return changeSecret(context, request, named, async ({ queries, recordChange }, secret) => {
    const { secretId, clientId, retiredAt, suspendedAt } = secret;
    if (retiredAt !== null) throw refused(`Secret ${secretId} is retired; add a new one.`);
    if (suspendedAt === null) return secret;
    const fields = fieldChanges({ suspended: true }, { suspended: false });
    recordChange({ action: 'secret.resume', object: `secret:${secretId}`, clientId, fields });
    return resumeSuspendedSecret(queries, secretId);
  });
};

function changeSecret(
  context: ClientContext,
  request: AdminRequest,
  { clientId, secretId }: NamedSecret,
  change: (
    transaction: AdminTransaction<ClientContext>,
    secret: IssuedSecret,
    secrets: readonly IssuedSecret[],
    active: boolean,
  ) => Promise<IssuedSecret>,
): Promise<AdminResult<IssuedSecret>> {
  return auditedTransaction(context, request, async (transaction) => {
    const client = await requireClient(transaction.queries, transaction, clientId, 'lock');
    const secrets = await readSecrets(transaction.queries, [client.registration.clientId]);
    const secret = secrets.find((one) => one.secretId === secretId);
    if (secret === undefined) throw notFound(`secret ${secretId} of client ${clientId}`);
    return change(transaction, secret, secrets, client.active);
  });
}

function requireUnused(
  secret: IssuedSecret,
  secrets: readonly IssuedSecret[],
  active: boolean,
  now: number,
): void {
  if (!isSecretValid(secret, now)) return;
  const others = secrets.filter((one) => one !== secret && isSecretValid(one, now));
  if (active && others.length === 0)
    throw refused(
      `Secret ${secret.secretId} is the last valid one of client ${secret.clientId}; add one first.`,
    );
  const free = unusedAt(secret);
  if (free !== undefined && free > now)
    throw refusedUntil(
      `Secret ${secret.secretId} was used at ${timeText(secret.lastUsedAt)}; the partner may still send it.`,
      free,
    );
  if (active && secret.lastUsedAt !== null && others.every((one) => one.lastUsedAt === null))
    throw refused(`Client ${secret.clientId} has not used another secret yet: it still knows this one only.`);
}
