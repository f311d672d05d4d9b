// The audit trail outside the database: log lines `operator.change`, one per transaction, each with the previous hash,
// so that lines after a restored audit log are found, forks too.
import type { AuditedChange, AuditHead } from '@course-exchange/runtime/audit/table';
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
}

export function endingsOf<C extends AuditedChange>(
  changes: readonly C[],
  keyedUser: (sub: string) => string,
) {
  return changes.flatMap((change): (C & Ending)[] => {
    const action = actionOf(change);
    if (!['ends', 'restores'].includes(effectOf(action) ?? '')) return [];
    const [, sub] = /^user:(.*)$/.exec(change.object) ?? [];
    return [{ ...change, action, object: sub === undefined ? change.object : `user:${keyedUser(sub)}` }];
  });
}

/** Any change that made a client active or inactive. */
function actionOf({ action, fields }: AuditedChange): string {
  const active = action.startsWith('client.') && fields.find(({ field }) => field === 'active');
  if (!active) return action;
  return active.after === 'true' ? 'client.activate' : 'client.deactivate';
}

/** A line that the restored log lacks. */
interface LostLine extends AuditedTransaction {
  /** The restored log's last entry before it. */
  readonly root: number;
  /** When its log parted. */
  readonly begun: number;
}

/**
 * `entries`: those of the restored log that the lines name, sequences by hash. Lines may follow any, since changes after the
 * restore hide nothing. `parted`: the first line that follows none.
 */
export function continuationOf(
  lines: readonly AuditedTransaction[],
  head: AuditHead,
  entries: ReadonlyMap<string, number>,
) {
  // A line may come twice, and archived, where USER_HASH_KEY does not matter.
  const trail = new Map<string, AuditedTransaction>();
  for (const line of lines.filter(({ hash }) => !entries.has(hash))) {
    const endings = [...(trail.get(line.hash)?.endings ?? []), ...line.endings];
    trail.set(line.hash, { ...line, endings });
  }
  const lost = followingLines([...trail.values()], entries);
  for (const { hash } of lost) trail.delete(hash);
  const [parted] = [...trail.values()].sort((one, other) => one.sequence - other.sequence);
  const named = Math.max(0, ...entries.values());
  const reachesEnd = named === head.sequence || lost.some(({ root }) => root === named);
  const endings = new Map<string, Ending & Pick<LostLine, 'root' | 'at'>>();
  for (const { root, at, endings: itsEndings } of lost)
    for (const ending of itsEndings)
      if (!isFinal(endings.get(ending.object))) endings.set(ending.object, { ...ending, root, at });
  return {
    isWhole: entries.size > 0 && parted === undefined && reachesEnd,
    named,
    last: lost.at(-1),
    parted,
    endings: [...endings.values()].filter(({ action }) => effectOf(action) !== 'restores'),
  };
}

/** A suspension after it, by an earlier fence, makes nothing resumable. */
export function isFinal(ending: Ending | undefined): boolean {
  return ending?.action.endsWith('.retire') ?? false;
}

/**
 * By sequence within one log, since pods' clocks differ. Of several lines after one hash the first continues its log;
 * each other starts a newer one, after a restore.
 */
function followingLines(
  trail: readonly AuditedTransaction[],
  entries: ReadonlyMap<string, number>,
): LostLine[] {
  const following = Map.groupBy(trail, ({ previous }) => previous);
  const lost: LostLine[] = [];
  const ends: { hash: string; root: number; begun?: number }[] = [];
  for (const [hash, root] of entries) ends.push({ hash, root });
  for (let end = ends.pop(); end; end = ends.pop()) {
    const next = (following.get(end.hash) ?? []).toSorted((one, other) => one.at - other.at);
    for (const [nth, line] of next.entries()) {
      const begun = nth === 0 ? (end.begun ?? line.at) : line.at;
      const found = { ...line, root: end.root, begun };
      lost.push(found);
      ends.push(found);
    }
  }
  return lost.sort((one, other) => one.begun - other.begun || one.sequence - other.sequence);
}
