// What a design change must be like (docs/feed.md): the same rules for the service that refuses it and for
// the tool that puts it aside before it is sent. Pure, without a driver.
import { storedTime } from './stored-time.ts';

/** A change as its message carries it. */
export interface DesignChangeFields {
  readonly owner: string;
  readonly id: string;
  readonly revision: bigint;
  readonly change:
    | { readonly case: 'upsert'; readonly value: DesignUpsertFields }
    | { readonly case: 'deletion'; readonly value: { readonly deletedAt?: string | undefined } }
    | { readonly case: undefined; readonly value?: undefined };
}

interface DesignUpsertFields {
  readonly localId?: string | undefined;
  readonly eventId?: string | undefined;
  readonly title: string;
  readonly eventName: string;
  readonly eventDate?: string | undefined;
  readonly updatedAt?: string | undefined;
  readonly authorName?: string | undefined;
  readonly shortDescr: string;
}

/** Longest texts in bytes of UTF-8; the first three are those of table `designs`. */
const mostOwnerBytes = 255;
const mostIdBytes = 512;
const mostEventIdBytes = 512;
const mostTextBytes = 65_536;
/** Revisions are unsigned 64-bit numbers. */
export const highestRevision = 2n ** 64n - 1n;

/** What is wrong with the change, as one sentence that quotes nothing of it; undefined when nothing is. */
export function designChangeProblem({ owner, id, revision, change }: DesignChangeFields): string | undefined {
  if (owner === '') return 'owner is missing.';
  if (id === '') return 'id is missing.';
  if (revision < 1n) return 'revision is missing: it is a whole number, 1 or more.';
  if (change.case === undefined) return 'it is neither an upsert nor a deletion.';
  return (
    textProblem('owner', owner, mostOwnerBytes) ??
    textProblem('id', id, mostIdBytes) ??
    (change.case === 'upsert'
      ? upsertProblem(change.value)
      : timeProblem('deletedAt', change.value.deletedAt))
  );
}

function upsertProblem(design: DesignUpsertFields): string | undefined {
  return (
    textProblem('eventId', design.eventId, mostEventIdBytes) ??
    textProblem('localId', design.localId, mostTextBytes) ??
    textProblem('title', design.title, mostTextBytes) ??
    textProblem('eventName', design.eventName, mostTextBytes) ??
    textProblem('authorName', design.authorName, mostTextBytes) ??
    textProblem('shortDescr', design.shortDescr, mostTextBytes) ??
    timeProblem('eventDate', design.eventDate) ??
    timeProblem('updatedAt', design.updatedAt)
  );
}

function textProblem(name: string, text: string | undefined, mostBytes: number): string | undefined {
  if (text === undefined) return undefined;
  // A character has at most three bytes for each of its code units.
  if (text.length * 3 > mostBytes && Buffer.byteLength(text) > mostBytes)
    return `${name} is longer than ${mostBytes} bytes.`;
  if (text.includes('\0')) return `${name} holds the character U+0000, which cannot be stored.`;
  return text.isWellFormed() ? undefined : `${name} holds half of a surrogate pair: it is not Unicode.`;
}

function timeProblem(name: string, text: string | undefined): string | undefined {
  if (text === undefined || storedTime(text) !== undefined) return undefined;
  return `${name} is not a time such as 2026-05-01T09:30:00Z, in the years 1 to 9999.`;
}
