// The audit trail outside the database: entries of the audit log, which their hashes prove, and log lines
// `operator.change`, one per transaction. Each has the previous hash, so that lines after a restored audit log are found,
// forks too.
import type { AuditedChange, AuditHead } from '@course-exchange/runtime/audit/table';
import { DetailedFailure } from '@course-exchange/runtime/process/errors';
import { effectOf } from '../admin/context.ts';

export interface Ending {
  readonly action: string;
  /** `user:` is followed by the keyed sub. */
  readonly object: string;
}

export interface AuditedTransaction extends AuditHead {
  /** The hash of the entry before its first. */
  readonly previous: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly endings: readonly Ending[];
  /** Whether `hash` was recomputed of all that it covers. */
  readonly isProven: boolean;
}

export function endingsOf<C extends AuditedChange>(changes: readonly C[], keyed: (sub: string) => string) {
  return changes.flatMap((change): (C & Ending)[] => {
    const action = actionOf(change);
    if (!['ends', 'restores'].includes(effectOf(action) ?? '')) return [];
    const [, sub] = /^user:(.*)$/.exec(change.object) ?? [];
    return [{ ...change, action, object: sub === undefined ? change.object : `user:${keyed(sub)}` }];
  });
}

/** Any change that made a client active or inactive. */
function actionOf({ action, fields }: AuditedChange): string {
  const active = action.startsWith('client.') && fields.find(({ field }) => field === 'active');
  if (!active) return action;
  return active.after === 'true' ? 'client.activate' : 'client.deactivate';
}

/** `root`: the restored log's last entry before it. `time`: `at`, or that of a line before it. */
type LostLine = AuditedTransaction & { readonly root: number; readonly time: number };

/**
 * `entries`: those of the restored log that the lines name, sequences by hash. Lines may follow any, since changes after the
 * restore hide nothing. `parted`: the first line that follows none.
 */
export function continuationOf(
  lines: readonly AuditedTransaction[],
  head: AuditHead,
  entries: ReadonlyMap<string, number>,
) {
  const trail = linesByHash(lines.filter(({ hash }) => !entries.has(hash)));
  const lost = followingLines([...trail.values()], entries);
  const reached = new Set(lost.map(({ hash }) => hash));
  const [parted] = [...trail.values()]
    .filter(({ hash }) => !reached.has(hash))
    .sort((one, other) => one.sequence - other.sequence);
  const named = [...entries.values()].reduce((most, sequence) => Math.max(most, sequence), 0);
  const reachesEnd = named === head.sequence || lost.some(({ root }) => root === named);
  return {
    isWhole: entries.size > 0 && parted === undefined && reachesEnd,
    named,
    last: lost.at(-1),
    parted,
    endings: standingEndings(lost, trail),
    unproven: lost.flatMap(({ isProven, sequence }) => (isProven ? [] : [sequence])),
    provenEntries: lost.filter(({ isProven }) => isProven).length,
  };
}

/** A line may come twice. The proven entries of a transaction replace its log line, which must name the same endings. */
function linesByHash(lines: readonly AuditedTransaction[]): ReadonlyMap<string, AuditedTransaction> {
  const proven = new Map(lines.filter(({ isProven }) => isProven).map((line) => [line.hash, line]));
  const trail = new Map(proven);
  for (const line of lines.filter(({ isProven }) => !isProven)) {
    const before = trail.get(line.hash);
    const known = provenEndings(line, proven);
    const others = known ?? (before?.previous === line.previous ? before.endings : line.endings);
    if (comparable(others) !== comparable(line.endings))
      throw new DetailedFailure(
        'invalid_argument',
        `Two lines of entry ${line.sequence} differ in what ended: one was changed after it was written.`,
      );
    const endings = [...(before?.endings ?? []), ...line.endings];
    if (known === undefined) trail.set(line.hash, { ...line, endings });
  }
  return trail;
}

/** Those of the transaction that a log line tells of; undefined unless every entry of it is proven. */
function provenEndings(
  { hash, previous }: AuditedTransaction,
  proven: ReadonlyMap<string, AuditedTransaction>,
): readonly Ending[] | undefined {
  const endings: Ending[] = [];
  for (let entry = proven.get(hash); entry; entry = proven.get(entry.previous)) {
    endings.push(...entry.endings);
    if (entry.previous === previous) return endings;
  }
  return undefined;
}

/** Without users' names: an earlier USER_HASH_KEY may have hashed them. Without another version's actions. */
function comparable(endings: readonly Ending[]): string {
  const known = endings.filter(({ action }) => effectOf(action) !== undefined);
  const texts = known.map(({ action, object }) => `${action} ${object.replace(/^user:.*/s, '')}`);
  return [...new Set(texts)].sort().join('\n');
}

/** Only the log that was lost last brings back what ended in it. */
function standingEndings(lost: readonly LostLine[], trail: ReadonlyMap<string, AuditedTransaction>) {
  const last = new Set<string>();
  for (let line: AuditedTransaction | undefined = lost.at(-1); line; line = trail.get(line.previous))
    last.add(line.hash);
  const known = new Map<string, Ending & Pick<LostLine, 'root' | 'at'> & { inLast: boolean }>();
  for (const { hash, root, at, endings } of lost)
    for (const ending of endings.filter(({ action }) => effectOf(action) !== undefined)) {
      const inLast = last.has(hash);
      const before = known.get(ending.object);
      const ended = before?.inLast && effectOf(before.action) === 'ends';
      if (isFinal(before) || (ended && !inLast && !isFinal(ending))) continue;
      known.set(ending.object, { ...ending, root, at, inLast });
    }
  return [...known.values()].filter(({ action }) => effectOf(action) === 'ends');
}

/** An earlier fence may have suspended it since. */
export const isFinal = ({ action = '' }: Partial<Ending> = {}): boolean => action.endsWith('.retire');

/** By time, but within one log by sequence, since pods' clocks differ. */
function followingLines(
  trail: readonly AuditedTransaction[],
  entries: ReadonlyMap<string, number>,
): LostLine[] {
  const following = Map.groupBy(trail, ({ previous }) => previous);
  const lost: LostLine[] = [];
  const ends = [...entries].map(([hash, root]) => ({ hash, root, time: 0 }));
  for (let end = ends.pop(); end; end = ends.pop())
    for (const line of following.get(end.hash) ?? []) {
      const found = { ...line, root: end.root, time: Math.max(line.at, end.time) };
      lost.push(found);
      ends.push(found);
    }
  return lost.sort((one, other) => one.time - other.time || one.sequence - other.sequence);
}
