// Apply: a stream of design changes, written batch after batch. What the feed owns is here: the order of a
// stream, the size of its batches, what is repeated. It reads nothing that a partner asks for.
import { DetailedFailure } from '@course-exchange/runtime/failure';
import type { Applied, ChangeBatch } from '../domain/design-change.ts';
import { type BatchLimits, changeBatches } from './change-batches.ts';

export interface ApplyUses {
  /** Atomic: all of the batch, or it throws and there is nothing of it. */
  readonly write: (batch: ChangeBatch) => Promise<Applied>;
  readonly limits: BatchLimits;
}

export interface AppliedStream extends Applied {
  /** Of the last change; 0 for a stream without one. */
  readonly position: bigint;
}

/**
 * Writes all that `parts` brings. When it fails, the batches before are written and their resume point tells so.
 * Throws DetailedFailure `invalid_argument` for a stream out of order.
 */
export async function applyChanges(
  parts: AsyncIterable<ChangeBatch>,
  { write, limits }: ApplyUses,
): Promise<AppliedStream> {
  const total = { upserted: 0, deleted: 0, ignored: 0, position: 0n };
  for await (const batch of changeBatches(inOrder(parts), limits)) {
    const applied = await write(batch);
    total.upserted += applied.upserted;
    total.deleted += applied.deleted;
    total.ignored += applied.ignored;
    total.position = batch.changes.at(-1)?.position ?? total.position;
  }
  return total;
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
