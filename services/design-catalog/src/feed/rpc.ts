// FeedService: validates and translates design changes.
import type { ApplyRequest, FeedService } from '@course-exchange/proto/feed/v1';
import { type DesignUpsertFields, designChangeProblem } from '@course-exchange/rules/design-change';
import { storedTime } from '@course-exchange/rules/time';
import { callerOf } from '@course-exchange/runtime/grpc/incoming-call';
import { roleOf } from '@course-exchange/runtime/grpc/roles';
import type { Handlers } from '@course-exchange/runtime/grpc/server';
import { DetailedFailure } from '@course-exchange/runtime/process/errors';
import type { Owner } from '../events/event.ts';
import type { ChangeBatch, DesignChange } from './change.ts';
import { applyStream, type FeedDeps, resumePoint, type VerifiedPart, verifySummaries } from './feed.ts';
import { type Frequencies, measureVolume, type VolumePart } from './volume.ts';

export function feedHandlers(deps: FeedDeps): Handlers<typeof FeedService> {
  return {
    apply: async (requests, call) => {
      const applied = await applyStream(deps, callerOf(call), partsOf(requests));
      return {
        upserted: BigInt(applied.upserted),
        deleted: BigInt(applied.deleted),
        ignored: BigInt(applied.ignored),
        position: applied.position,
      };
    },
    getResumePoint: async ({ source }) => ({ position: await resumePoint(deps, source) }),
    verify: async function* ({ repair }, call) {
      if (repair && roleOf(call) === 'auditor')
        throw new DetailedFailure('permission_denied', 'An auditor repairs nothing.');
      const repairer = repair ? callerOf(call) : undefined;
      for await (const part of verifySummaries(deps, repairer)) yield verifiedMessage(part);
    },
    measureVolume: async function* ({ owners }) {
      for await (const part of measureVolume(deps, owners as Owner[])) yield volumeMessage(part);
    },
  };
}

/** Bytes of the longest name in table `resume_points`. */
const longestSource = 255;

async function* partsOf(requests: AsyncIterable<ApplyRequest>): AsyncGenerator<ChangeBatch> {
  for await (const { source, changes, last } of requests) {
    if (Buffer.byteLength(source) > longestSource || source.includes('\0'))
      throw new DetailedFailure('invalid_argument', 'The name of the source is too long or holds U+0000.');
    yield { source, changes: changes.map(readChange), last };
  }
}

type ChangeMessage = ApplyRequest['changes'][number];
type UpsertMessage = Extract<ChangeMessage['change'], { case: 'upsert' }>['value'];

function readChange(message: ChangeMessage): DesignChange {
  const problem = designChangeProblem(message);
  if (problem !== undefined)
    throw new DetailedFailure('invalid_argument', `The change at position ${message.position}: ${problem}`);
  const { position, owner, id, revision, change } = message;
  return {
    position,
    owner: owner as Owner,
    id,
    revision,
    design: change.case === 'upsert' ? readDesign(change.value) : undefined,
    deletedAt: change.case === 'deletion' ? optionalTime(change.value.deletedAt) : undefined,
  };
}

function readDesign({
  $typeName,
  $unknown,
  eventDate,
  updatedAt,
  ...texts
}: UpsertMessage): DesignUpsertFields {
  return { ...texts, eventDate: optionalTime(eventDate), updatedAt: optionalTime(updatedAt) };
}

function optionalTime(text: string | undefined): string | undefined {
  return text === undefined ? undefined : storedTime(text);
}

function verifiedMessage({ owners, events, differences, repaired }: VerifiedPart) {
  return {
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

function volumeMessage({ eventsPerOwner, designsPerEvent, ...list }: VolumePart) {
  return {
    ...list,
    eventsPerOwner: frequencyMessages(eventsPerOwner),
    designsPerEvent: frequencyMessages(designsPerEvent),
  };
}

function frequencyMessages(frequencies: Frequencies) {
  return [...frequencies].map(([value, count]) => ({ value, count }));
}
