// feed/ is how the platform writes: changes of designs in batches, resume points, and the event summaries that follow from them.
// events/ reads the same tables.

// The feed: the platform that owns the designs streams its changes, by ascending position. Each batch is atomic with
// its event summaries, resume point and audit entry, so that a broken stream can resume.
import { type AuditOrigin, logAuditHead } from '@course-exchange/runtime/audit/table';
import type { Caller } from '@course-exchange/runtime/grpc/incoming-call';
import type { Database } from '@course-exchange/runtime/postgres/pool';
import { DetailedFailure } from '@course-exchange/runtime/process/errors';
import type { Logger } from '@course-exchange/runtime/process/logger';
import { type BatchLimits, changeBatches } from './batches.ts';
import type { Applied, ChangeBatch } from './change.ts';
import { findResumePoint, repeatedly, writeBatch } from './change-table.ts';
import { type Recount, recountEvents, repairSummaries } from './summary-table.ts';

export interface FeedDeps {
  readonly database: Database;
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export interface AppliedStream extends Applied {
  readonly position: bigint;
}

const batchLimits: BatchLimits = { changes: 10_000, characters: 8 * 1024 * 1024, waitMs: 500 };

/** Throws like applyBatches. */
export async function applyStream(
  deps: FeedDeps,
  caller: Caller,
  parts: AsyncIterable<ChangeBatch>,
): Promise<AppliedStream> {
  const write = async (batch: ChangeBatch) => {
    const written = await repeatedly(() => writeBatch(deps.database, batch, originOf(deps, caller)));
    logAuditHead(deps.logger, written.head, caller.actor);
    return written;
  };
  const applied = await applyBatches({ write, limits: batchLimits }, parts);
  const { upserted, deleted, ignored } = applied;
  deps.logger.info('designs applied', { upserted, deleted, ignored });
  return applied;
}

function originOf({ now }: FeedDeps, caller: Caller): AuditOrigin {
  return { ...caller, at: new Date(now()).toISOString() };
}

export interface ApplyDeps {
  readonly write: (batch: ChangeBatch) => Promise<Applied>;
  readonly limits: BatchLimits;
}

/**
 * Writes everything, in order, gathering the next batch meanwhile. The batches before a failure are written, and
 * their resume point says so. Throws DetailedFailure `invalid_argument` for a stream out of order.
 */
export async function applyBatches(
  { write, limits }: ApplyDeps,
  parts: AsyncIterable<ChangeBatch>,
): Promise<AppliedStream> {
  const total = { upserted: 0, deleted: 0, ignored: 0, position: 0n };
  const batches = changeBatches(inOrder(parts), limits);
  // Reported at once, even if the stream brings nothing more.
  const failed = Promise.withResolvers<never>();
  let writing = Promise.resolve();
  failed.promise.catch(() => {});
  try {
    for (;;) {
      const { done, value: batch } = await Promise.race([batches.next(), failed.promise]);
      await writing;
      if (done) return total;
      writing = write(batch).then((applied) => count(total, batch, applied));
      writing.catch(failed.reject);
    }
  } finally {
    // So that the reported result is true.
    await writing.catch(() => {});
    void batches.return(undefined);
  }
}

type Total = { -readonly [K in keyof AppliedStream]: AppliedStream[K] };

function count(total: Total, { changes }: ChangeBatch, { upserted, deleted, ignored }: Applied): void {
  total.upserted += upserted;
  total.deleted += deleted;
  total.ignored += ignored;
  total.position = changes.at(-1)?.position ?? total.position;
}

/** Otherwise resuming by position is unsafe. */
async function* inOrder(parts: AsyncIterable<ChangeBatch>): AsyncGenerator<ChangeBatch> {
  let before: ChangeBatch | undefined;
  let position = 0n;
  for await (const part of parts) {
    if (before && before.source !== part.source)
      throw refusal('A stream has one source; this one changed it.');
    if (before?.last) throw refusal('The stream continues after its last message.');
    for (const change of part.changes) {
      if (change.position <= position)
        throw refusal(`Position ${change.position} comes after ${position}: positions ascend from 1.`);
      position = change.position;
    }
    before = part;
    yield part;
  }
}

function refusal(sentence: string): DetailedFailure {
  return new DetailedFailure('invalid_argument', sentence);
}

export function resumePoint({ database }: FeedDeps, source: string): Promise<bigint> {
  return findResumePoint(database, source);
}

export interface VerifiedPart extends Recount {
  readonly repaired: boolean;
}

/** Owners per statement: none runs long beside the reads. */
const ownersInPart = 200;

/** Repairs differences in the name of `repairer`; without one they are only reported. */
export async function* verifySummaries(
  deps: FeedDeps,
  repairer: Caller | undefined,
  most = ownersInPart,
): AsyncGenerator<VerifiedPart> {
  let owner: string | null = '';
  while (owner !== null) {
    const part: Recount = await recountEvents(deps.database, owner, most);
    const repaired = repairer !== undefined && part.differences.length > 0;
    if (repaired) {
      const origin = originOf(deps, repairer);
      const head = await repeatedly(() => repairSummaries(deps.database, part.differences, origin));
      logAuditHead(deps.logger, head, repairer.actor);
    }
    if (part.owners > 0) yield { ...part, repaired };
    owner = part.lastOwner;
  }
}
