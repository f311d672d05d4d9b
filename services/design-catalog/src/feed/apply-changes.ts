// Apply: a stream of design changes, written batch after batch. What the feed owns is here: the order of a
// stream, the size of its batches, what is repeated. It reads nothing that a partner asks for.
import { DetailedFailure } from '@course-exchange/runtime/failure';
import type { Applied, ChangeBatch } from '../domain/design-change.ts';
import { type BatchLimits, changeBatches } from './change-batches.ts';

export interface ApplyUses {
  /** Atomic: all of the batch and its audit entry, or it throws and there is nothing of it. */
  readonly write: (batch: ChangeBatch) => Promise<Applied>;
  readonly limits: BatchLimits;
}

export interface AppliedStream extends Applied {
  /** Of the last change; 0 for a stream without one. */
  readonly position: bigint;
}

/**
 * Writes all that `parts` brings, in order. While a batch is written the next one is gathered, and then nothing
 * more is taken from `parts`. When it fails, the batches before are written and their resume point tells so.
 * Throws DetailedFailure `invalid_argument` for a stream out of order.
 */
export async function applyChanges(
  parts: AsyncIterable<ChangeBatch>,
  { write, limits }: ApplyUses,
): Promise<AppliedStream> {
  const total = { upserted: 0, deleted: 0, ignored: 0, position: 0n };
  const batches = changeBatches(inOrder(parts), limits);
  // So that a failed write is told at once, though the stream may bring nothing more.
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
    // A batch that is being written is not left to itself: what is told of the stream holds.
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

/** Resuming by position is safe only where positions ascend in one source and nothing follows its end. */
async function* inOrder(parts: AsyncIterable<ChangeBatch>): AsyncGenerator<ChangeBatch> {
  let before: ChangeBatch | undefined;
  let position = 0n;
  for await (const part of parts) {
    if (before && before.source !== part.source)
      throw refusal('A stream has one source; this one changed it.');
    if (before?.last) throw refusal('The stream goes on after the message that it called its last.');
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
