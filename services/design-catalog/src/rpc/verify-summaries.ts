// FeedService.Verify: what a recount found, part after part.
import type { FeedService } from '@course-exchange/proto/feed/v1';
import type { Handlers } from '@course-exchange/runtime/rpc-server';
import type { VerifiedPart } from '../feed/verify-summaries.ts';
import { type Caller, callerOf } from './caller.ts';

export interface VerifyHandlerUses {
  /** Repairs in the name of `repairer`; counts alone without one. */
  readonly verify: (repairer: Caller | undefined) => AsyncIterable<VerifiedPart>;
}

export function verifyHandler({ verify }: VerifyHandlerUses): Handlers<typeof FeedService>['verify'] {
  return async function* ({ repair }, call) {
    for await (const { owners, events, differences, repaired } of verify(
      repair ? callerOf(call) : undefined,
    )) {
      yield {
        owners: BigInt(owners),
        events: BigInt(events),
        differences: differences.map(({ owner, eventId, summarised, counted }) => ({
          owner,
          eventId,
          ...(summarised === null ? {} : { summarisedDesigns: summarised }),
          ...(counted === null ? {} : { countedDesigns: counted }),
          repaired,
        })),
      };
    }
  };
}
