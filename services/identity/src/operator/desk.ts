// What every use case of the operator's side is given: the store, the clock, and who asks. Each write happens
// with its audit entry in one transaction, or does not happen.
import { type AuditHead, appendToAudit } from '@course-exchange/runtime/audit-log';
import { DetailedFailure } from '@course-exchange/runtime/failure';
import type { Database, Queries } from '@course-exchange/runtime/postgres';
import type { Change } from '../domain/change.ts';
import type { Environment } from '../domain/dossier.ts';
import type { RandomBytes } from '../domain/ids.ts';
import type { SigningAlgorithm } from '../domain/signing-algorithm.ts';
import type { KeyEncryptionKey } from '../signing/key-encryption.ts';

export interface Desk {
  /** As role identity_operator. */
  readonly database: Database;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly sleep: (milliseconds: number) => Promise<void>;
  readonly randomBytes: RandomBytes;
  readonly issuer: string;
  readonly environment: Environment;
  readonly algorithms: readonly SigningAlgorithm[];
  readonly keyEncryptionKey: KeyEncryptionKey;
  readonly previousKeyEncryptionKey: KeyEncryptionKey | undefined;
  /** Stands for a person's e-mail, name or telephone number: equal for equal ones, told by nobody without the key. */
  readonly personal: (text: string) => string;
  /** Told of each new end of the audit chain, for the log: a chain that is cut off later can be told from it. */
  readonly onAudited: (head: AuditHead, actor: string) => void;
}

export interface Order {
  /** `cert:<name>` or `local:<name>`. */
  readonly actor: string;
  readonly requestId: string;
  /** Check everything, change nothing. */
  readonly dryRun: boolean;
}

export interface Outcome<T> {
  readonly result: T;
  /** Empty: everything was so already. */
  readonly changes: readonly Change[];
}

/** Takes down what was changed. */
export type Note = (change: Change) => void;

/** Carries a dry run's outcome out of its transaction. */
class Undone extends Error {
  readonly outcome: unknown;

  constructor(outcome: unknown) {
    super('dry run');
    this.outcome = outcome;
  }
}

/**
 * Runs `work` and writes what it notes to the audit log, in one transaction. A dry run does the same and rolls
 * back. Throws `DetailedFailure` where `work` does, and `temporarily_unavailable`.
 */
export async function carryOut<T>(
  desk: Desk,
  order: Order,
  work: (queries: Queries, note: Note) => Promise<T>,
): Promise<Outcome<T>> {
  const { actor, requestId } = order;
  let head: AuditHead | undefined;
  try {
    const outcome = await desk.database.transaction(async (queries) => {
      const changes: Change[] = [];
      const result = await work(queries, (change) => changes.push(change));
      const done = { result, changes };
      if (order.dryRun) throw new Undone(done);
      const at = new Date(desk.now()).toISOString();
      if (changes.length > 0) head = await appendToAudit(queries, { actor, requestId, at }, changes);
      return done;
    });
    if (head) desk.onAudited(head, actor);
    return outcome;
  } catch (error) {
    if (error instanceof Undone) return error.outcome as Outcome<T>;
    throw hasMet(error) ? conflict('Two changes met. Try again.') : error;
  }
}

/** SQLSTATE of a deadlock, a serialization failure, or a name that somebody else took a moment before. */
function hasMet(error: unknown): boolean {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined;
  return code === '40P01' || code === '40001' || code === '23505';
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

/** Throws when there is a mistake; one sentence a line. */
export function requireNoMistake(mistakes: readonly string[]): void {
  if (mistakes.length > 0) throw new DetailedFailure('invalid_argument', mistakes.join('\n'));
}
