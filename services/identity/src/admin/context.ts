// What operators do, whichever noun they do it to. A use case of theirs is given an `AdminContext` and an
// `AdminRequest`; what it writes happens in one transaction with its audit entries, or not at all. A dry run does all
// of it and is rolled back.
import { type AppendedHead, type AuditedChange, appendToAudit } from '@course-exchange/runtime/audit/table';
import type { Database, Queries } from '@course-exchange/runtime/postgres/pool';
import { DetailedFailure } from '@course-exchange/runtime/process/errors';
import type { Environment } from '../clients/client-registration.ts';
import type { RandomBytes } from '../ids.ts';
import type { KeyEncryptionKey } from '../keys/private-key.ts';
import type { SigningAlgorithm } from '../keys/signing-key.ts';
import type { OnSecurityEvent } from '../security-events.ts';
import type { Action } from './actions.ts';

export interface AdminContext {
  /** As role identity_operator. */
  readonly database: Database;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly randomBytes: RandomBytes;
  readonly issuer: string;
  readonly environment: Environment;
  readonly algorithms: readonly SigningAlgorithm[];
  readonly keyEncryptionKey: KeyEncryptionKey;
  readonly previousKeyEncryptionKey: KeyEncryptionKey | undefined;
  /** A keyed hash for an e-mail address, a name or a telephone number: the audit log holds no personal data. */
  readonly pseudonymize: (text: string) => string;
  /** The keyed hash under which logs name a user (R27). */
  readonly keyedUser: (sub: string) => string;
  /** Called with each new end of the audit chain, for the log: a chain that is cut off later shows. */
  readonly onAudited: (head: AppendedHead, actor: string, changes: readonly AuditedChange[]) => void;
  readonly onSecurityEvent: OnSecurityEvent;
}

export interface AdminRequest {
  /** `cert:<name>` or `local:<name>`. */
  readonly actor: string;
  readonly requestId: string;
  /** Check everything, change nothing. */
  readonly dryRun: boolean;
}

export type OperatorChange = AuditedChange & { readonly action: Action };

/** The context inside the transaction of one request. */
export interface AdminTransaction extends AdminContext {
  readonly actor: string;
  readonly queries: Queries;
  /** Adds an entry to the audit log. */
  readonly recordChange: (change: OperatorChange) => void;
}

export interface AdminResult<T> {
  readonly result: T;
  /** Empty: everything was so already. */
  readonly changes: readonly AuditedChange[];
}

/** Carries a dry run's result out of the transaction that it rolls back. */
class DryRunRollback extends Error {
  readonly carried: unknown;

  constructor(carried: unknown) {
    super('dry run');
    this.carried = carried;
  }
}

/**
 * Runs `work` and writes the changes that it records to the audit log, in one transaction; a dry run rolls back.
 * Throws the `DetailedFailure` of `work`, `conflict` and `temporarily_unavailable`.
 */
export async function auditedTransaction<T>(
  context: AdminContext,
  { actor, requestId, dryRun }: AdminRequest,
  work: (transaction: AdminTransaction) => Promise<T>,
): Promise<AdminResult<T>> {
  let head: AppendedHead | undefined;
  try {
    const done = await context.database.transaction(async (queries) => {
      const changes: OperatorChange[] = [];
      const recordChange = (change: OperatorChange) => void changes.push(change);
      const result = await work({ ...context, actor, queries, recordChange });
      if (dryRun) throw new DryRunRollback({ result, changes });
      const at = new Date(context.now()).toISOString();
      if (changes.length > 0) head = await appendToAudit(queries, { actor, requestId, at }, changes);
      return { result, changes };
    });
    if (head) context.onAudited(head, actor, done.changes);
    return done;
  } catch (error) {
    if (error instanceof DryRunRollback) return error.carried as AdminResult<T>;
    throw isWriteConflict(error) ? conflict('Two changes met. Try again.') : error;
  }
}

/** SQLSTATE of a deadlock, a serialization failure, or a unique name that another transaction took a moment before. */
function isWriteConflict(error: unknown): boolean {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined;
  return code === '40P01' || code === '40001' || code === '23505';
}

/** Values of an object's fields; nothing secret, and personal data already pseudonymized. */
export type Fields = Readonly<Record<string, unknown>>;

/** The fields that differ, in the order of `after`. Undefined, null and '' count as absent. */
export function fieldChanges(before: Fields, after: Fields): AuditedChange['fields'] {
  const names = new Set([...Object.keys(after), ...Object.keys(before)]);
  return [...names].flatMap((field) => {
    const [from, to] = [jsonOf(before[field]), jsonOf(after[field])];
    if (from === to) return [];
    return [
      { field, ...(from === undefined ? {} : { before: from }), ...(to === undefined ? {} : { after: to }) },
    ];
  });
}

/** As the audit log tells a time. */
export function timeText(time: number | null): string | undefined {
  return time === null ? undefined : new Date(time).toISOString();
}

function jsonOf(value: unknown): string | undefined {
  return value === undefined || value === null || value === '' ? undefined : JSON.stringify(value);
}

export function notFound(what: string): DetailedFailure {
  return new DetailedFailure('not_found', `There is no ${what}.`);
}

export function conflict(sentence: string): DetailedFailure {
  return new DetailedFailure('conflict', sentence);
}

export function refused(...sentences: readonly string[]): DetailedFailure {
  return new DetailedFailure('refused', sentences.join('\n'));
}

export function refusedUntil(sentence: string, possibleAt: number): DetailedFailure {
  return new DetailedFailure('refused_until', sentence, { possibleAt });
}

/** Throws `invalid_argument` with one sentence a line when there is a problem. */
export function requireNoProblem(problems: readonly string[]): void {
  if (problems.length > 0) throw new DetailedFailure('invalid_argument', problems.join('\n'));
}
