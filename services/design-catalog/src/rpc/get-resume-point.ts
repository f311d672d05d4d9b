// FeedService.GetResumePoint: how far a source is committed.
import type { FeedService } from '@course-exchange/proto/feed/v1';
import type { Handlers } from '@course-exchange/runtime/rpc-server';

export interface GetResumePointUses {
  /** 0 when there is none. */
  readonly findResumePoint: (source: string) => Promise<bigint>;
}

export function getResumePointHandler({
  findResumePoint,
}: GetResumePointUses): Handlers<typeof FeedService>['getResumePoint'] {
  return async ({ source }) => ({ position: await findResumePoint(source) });
}
