// The audit trail outside the database: log lines `operator.change`, one per transaction, each with the previous hash,
// so that lines after a restored audit log are found even if an earlier restore forked it.
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

export function endingsOf(changes: readonly AuditedChange[], keyedUser: (sub: string) => string): string[] {
  return changes.flatMap((change) => {
    const action = actionOf(change);
    if (!['ends', 'restores'].includes(effectOf(action) ?? '')) return [];
    const [, sub] = /^user:(.*)$/.exec(change.object) ?? [];
    return [`${action} ${sub === undefined ? change.object : `user:${keyedUser(sub)}`}`];
  });
}

/** Any change that made a client active or inactive counts as that. */
function actionOf({ action, fields }: AuditedChange): string {
  const active = action.startsWith('client.') && fields.find(({ field }) => field === 'active');
  if (!active) return action;
  return active.after === 'true' ? 'client.activate' : 'client.deactivate';
}

/**
 * `headAt`: when the restored log was last written to. `last`: undefined when no line follows it. `parted`: the first
 * line after a missing one.
 */
export function continuationOf(lines: readonly AuditedTransaction[], head: AuditHead, headAt: number) {
  // A log collector may deliver a line twice.
  const trail = [...new Map(lines.map((line) => [line.hash, line])).values()];
  const found = followingLines(trail, head);
  const reachesBack = found.size > 0 || trail.some(({ hash }) => hash === head.hash);
  // Lines of an ended fork are older than the restored log's end.
  const [parted] = trail
    .filter((line) => !found.has(line) && line.sequence > head.sequence && line.at > headAt)
    .sort((one, other) => one.sequence - other.sequence);
  const endings = new Map<string, Ending>();
  for (const line of found)
    for (const ending of line.endings) {
      // Suspends also what had been retired after its backup.
      const isKnown =
        ending.action === 'secret.suspend' && endings.get(ending.object)?.action === 'secret.retire';
      if (!isKnown) endings.set(ending.object, ending);
    }
  return {
    isWhole: reachesBack && parted === undefined,
    last: [...found].at(-1),
    parted,
    endings: [...endings.values()].filter(({ action }) => effectOf(action) !== 'restores'),
  };
}

/**
 * By sequence within one log, since pods' clocks differ. Of several lines after one hash the first continues its log;
 * each other starts a newer one, after a restore.
 */
function followingLines(trail: readonly AuditedTransaction[], head: AuditHead): Set<AuditedTransaction> {
  const following = Map.groupBy(trail, ({ previous }) => previous);
  const begun = new Map<AuditedTransaction, number>();
  const ends = [{ hash: head.hash, logBegun: 0 }];
  for (let end = ends.pop(); end; end = ends.pop()) {
    const next = (following.get(end.hash) ?? []).toSorted((one, other) => one.at - other.at);
    for (const [nth, line] of next.entries()) {
      if (begun.has(line)) continue;
      const logBegun = nth === 0 ? end.logBegun : line.at;
      begun.set(line, logBegun);
      ends.push({ hash: line.hash, logBegun });
    }
  }
  const inOrder = [...begun].sort(([one, oneBegun], [other, otherBegun]) =>
    oneBegun === otherBegun ? one.sequence - other.sequence : oneBegun - otherBegun,
  );
  return new Set(inOrder.map(([line]) => line));
}
