// admin/ is what the use cases of all operators' services share: one transaction with its audit entries, its dry run, and the errors
// that partnerctl prints. The use cases themselves stand with their nouns, in clients/, keys/, users/, consents/ and restore/.

// Operators' use cases: each writes in one transaction with its audit entries. A dry run is rolled back.
import { type AppendedHead, type AuditedChange, appendToAudit } from '@course-exchange/runtime/audit/table';
import type { Database, Queries } from '@course-exchange/runtime/postgres/pool';
import { isState, stateOf } from '@course-exchange/runtime/postgres/sqlstate';
import { DetailedFailure } from '@course-exchange/runtime/process/errors';

/** The restore fence repeats what `ends` something (R33.6), unless a `restores` came later. */
const effects = {
  'client.register': 'changes',
  'client.edit': 'changes',
  'client.approval': 'changes',
  'client.activate': 'restores',
  'client.deactivate': 'ends',
  'secret.add': 'changes',
  'secret.retire': 'ends',
  'secret.suspend': 'ends',
  'secret.resume': 'restores',
  'key.stage': 'changes',
  'key.activate': 'changes',
  'key.supersede': 'changes',
  'key.retire': 'ends',
  'key.reencrypt': 'changes',
  'user.import': 'changes',
  'user.refold': 'changes',
  'user.sign-out': 'changes',
  'user.unthrottle': 'changes',
  'user.disable': 'ends',
  'user.enable': 'restores',
  'consent.withdraw': 'changes',
  'restore.fence': 'changes',
} as const;

export type Action = keyof typeof effects;
export type EndingAction = { [A in Action]: (typeof effects)[A] extends 'ends' ? A : never }[Action];

/** Undefined for another version's action. */
export function effectOf(action: string): 'changes' | 'ends' | 'restores' | undefined {
  return Object.hasOwn(effects, action) ? effects[action as Action] : undefined;
}

export const restoringActions = Object.keys(effects).filter((action) => effectOf(action) === 'restores');

/** What each use case needs. A noun's own needs are declared with its use cases. */
export interface AdminContext {
  /** As role identity_operator. */
  readonly database: Database;
  readonly now: () => number;
  /** Logs each head of the audit chain, to detect truncation. */
  readonly onAudited: (head: AppendedHead, actor: string, changes: readonly AuditedChange[]) => void;
}

export interface AdminRequest {
  /** `cert:<name>` or `local:<name>`. */
  readonly actor: string;
  readonly requestId: string;
  readonly dryRun: boolean;
}

export type OperatorChange = AuditedChange & { readonly action: Action };

export type AdminTransaction<Context extends AdminContext = AdminContext> = Context & {
  readonly actor: string;
  readonly queries: Queries;
  readonly recordChange: (change: OperatorChange) => void;
};

export type AdminAction<Asked, T, Context extends AdminContext = AdminContext> = (
  context: Context,
  request: AdminRequest,
  asked: Asked,
) => Promise<AdminResult<T>>;

export interface AdminResult<T> {
  readonly result: T;
  /** Empty: no difference. */
  readonly changes: readonly AuditedChange[];
}

const dryRunEnds = new Error('dry run');

/** Throws the `DetailedFailure` of `work`, `conflict` and `temporarily_unavailable`. */
export async function auditedTransaction<T, Context extends AdminContext>(
  context: Context,
  { actor, requestId, dryRun }: AdminRequest,
  work: (transaction: AdminTransaction<Context>) => Promise<T>,
): Promise<AdminResult<T>> {
  let dry: AdminResult<T> | undefined;
  try {
    const { head, ...done } = await context.database.transaction(async (queries) => {
      const changes: OperatorChange[] = [];
      const recordChange = (change: OperatorChange) => void changes.push(change);
      const result = await work({ ...context, actor, queries, recordChange });
      dry = { result, changes };
      if (dryRun) throw dryRunEnds;
      const at = new Date(context.now()).toISOString();
      const head = changes.length > 0 && (await appendToAudit(queries, { actor, requestId, at }, changes));
      return { result, changes, head };
    });
    if (head) context.onAudited(head, actor, done.changes);
    return done;
  } catch (error) {
    if (error === dryRunEnds && dry) return dry;
    const met = isState(stateOf(error), 'deadlock_detected', 'serialization_failure', 'unique_violation');
    throw met ? conflict('Two changes met. Try again.') : error;
  }
}

/** Nothing secret; personal data pseudonymized. */
export type Fields = Readonly<Record<string, unknown>>;

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

export function timeText(time: number | null): string | undefined {
  return time === null ? undefined : new Date(time).toISOString();
}

function jsonOf(value: unknown): string | undefined {
  const text = JSON.stringify(value);
  return ['null', '""', '[]'].includes(text) ? undefined : text;
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

export function requireNoProblem(problems: readonly string[]): void {
  if (problems.length > 0) throw new DetailedFailure('invalid_argument', problems.join('\n'));
}
