// Has the service count all Events anew, and gathers what it found.
import type { Client } from '@connectrpc/connect';
import type { FeedService, SummaryDifference } from '@course-exchange/proto/feed/v1';

export interface VerifyReport {
  readonly owners: number;
  readonly events: number;
  /** Summaries that differed from the recount; whether they were mended stands in each. */
  readonly differences: readonly SummaryDifference[];
}

export interface VerifyOptions {
  /** Mends the summaries that differ. */
  readonly repair: boolean;
  /** Told after each part how many owners and Events are counted. */
  readonly counted: (owners: number, events: number) => void;
  readonly signal?: AbortSignal;
}

export async function verifyDesigns(
  feed: Client<typeof FeedService>,
  { repair, counted, signal }: VerifyOptions,
): Promise<VerifyReport> {
  const differences: SummaryDifference[] = [];
  let owners = 0;
  let events = 0;
  for await (const part of feed.verify({ repair }, signal === undefined ? {} : { signal })) {
    owners += Number(part.owners);
    events += Number(part.events);
    differences.push(...part.differences);
    counted(owners, events);
  }
  return { owners, events, differences };
}
