// FeedService.Apply: design changes from their messages, each judged before it is taken.
import { designChangeProblem } from '@course-exchange/proto/design-change';
import type { ApplyRequest, FeedService } from '@course-exchange/proto/feed/v1';
import { storedTime } from '@course-exchange/proto/stored-time';
import { DetailedFailure } from '@course-exchange/runtime/failure';
import type { Handlers } from '@course-exchange/runtime/rpc-server';
import type { ChangeBatch, ChangedDesign, DesignChange } from '../domain/design-change.ts';
import type { Owner } from '../domain/ids.ts';
import type { AppliedStream } from '../feed/apply-changes.ts';
import { type Caller, callerOf } from './caller.ts';

export interface ApplyHandlerUses {
  readonly apply: (parts: AsyncIterable<ChangeBatch>, caller: Caller) => Promise<AppliedStream>;
  /** Told of each stream that has come to its end. */
  readonly applied: (result: AppliedStream) => void;
}

type ChangeMessage = ApplyRequest['changes'][number];
type UpsertMessage = Extract<ChangeMessage['change'], { case: 'upsert' }>['value'];

/** Bytes of the longest name of a source: that of table `resume_points`. */
const longestSource = 255;

export function applyHandler({ apply, applied }: ApplyHandlerUses): Handlers<typeof FeedService>['apply'] {
  return async (requests, call) => {
    const result = await apply(partsOf(requests), callerOf(call));
    applied(result);
    return {
      upserted: BigInt(result.upserted),
      deleted: BigInt(result.deleted),
      ignored: BigInt(result.ignored),
      position: result.position,
    };
  };
}

async function* partsOf(requests: AsyncIterable<ApplyRequest>): AsyncGenerator<ChangeBatch> {
  for await (const { source, changes, last } of requests) {
    if (Buffer.byteLength(source) > longestSource || source.includes('\0'))
      throw new DetailedFailure('invalid_argument', 'The name of the source is too long or holds U+0000.');
    yield { source, changes: changes.map(toChange), last };
  }
}

function toChange(message: ChangeMessage): DesignChange {
  const problem = designChangeProblem(message);
  if (problem !== undefined)
    throw new DetailedFailure('invalid_argument', `The change at position ${message.position}: ${problem}`);
  const { position, owner, id, revision, change } = message;
  return {
    position,
    owner: owner as Owner,
    id,
    revision,
    design: change.case === 'upsert' ? toDesign(change.value) : undefined,
    deletedAt: change.case === 'deletion' ? optionalTime(change.value.deletedAt) : undefined,
  };
}

function toDesign(message: UpsertMessage): ChangedDesign {
  const { localId, eventId, title, eventName, eventDate, updatedAt, authorName, shortDescr } = message;
  return {
    localId,
    eventId,
    title,
    eventName,
    eventDate: optionalTime(eventDate),
    updatedAt: optionalTime(updatedAt),
    authorName,
    shortDescr,
  };
}

function optionalTime(text: string | undefined): string | undefined {
  return text === undefined ? undefined : storedTime(text);
}
