// Verify: every Event counted anew, some owners at a time so that no statement runs long beside the reads.
import type { Recount, SummaryDifference } from '../store/summary-recount.ts';

export interface VerifyUses {
  /** Up to `most` owners after `owner`, of one snapshot. */
  readonly recount: (owner: string, most: number) => Promise<Recount>;
  /** Atomic, with its audit entry. Undefined: what differs is told and left. */
  readonly mend: ((differences: readonly SummaryDifference[]) => Promise<unknown>) | undefined;
}

export interface VerifiedPart extends Recount {
  readonly repaired: boolean;
}

/** Owners in one statement. */
const ownersInPart = 200;

/** Yields a part for each statement, until no owner is left. */
export async function* verifySummaries({ recount, mend }: VerifyUses): AsyncGenerator<VerifiedPart> {
  let owner: string | undefined = '';
  while (owner !== undefined) {
    const part: Recount = await recount(owner, ownersInPart);
    const repaired = mend !== undefined && part.differences.length > 0;
    if (repaired) await mend(part.differences);
    if (part.owners > 0) yield { ...part, repaired };
    owner = part.lastOwner;
  }
}
