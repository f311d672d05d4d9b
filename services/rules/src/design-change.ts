// Validity of a design change (docs/feed.md), for the feed and the import tool.
import { storedTime } from './time.ts';

export interface DesignChangeFields {
  readonly owner: string;
  readonly id: string;
  readonly revision: bigint;
  readonly change:
    | { readonly case: 'upsert'; readonly value: DesignUpsertFields }
    | { readonly case: 'deletion'; readonly value: { readonly deletedAt?: string | undefined } }
    | { readonly case: undefined; readonly value?: undefined };
}

/** Times are RFC 3339. */
export interface DesignUpsertFields {
  readonly localId?: string | undefined;
  readonly eventId?: string | undefined;
  readonly title: string;
  readonly eventName: string;
  readonly eventDate?: string | undefined;
  readonly updatedAt?: string | undefined;
  readonly authorName?: string | undefined;
  readonly shortDescr: string;
}

/** Longest identifiers in bytes of UTF-8, as in table `designs`. */
const maxOwnerBytes = 255;
export const maxIdBytes = 512;
/** Longest texts in code points, as in Postgres (R23.5). */
const maxCharacters = 1_000;
const maxDescriptionCharacters = 2_000;
/** Revisions are unsigned 64-bit numbers. */
export const highestRevision = 2n ** 64n - 1n;

/** Quotes nothing of the change; undefined when it is valid. */
export function designChangeProblem({ owner, id, revision, change }: DesignChangeFields): string | undefined {
  if (owner === '') return 'owner is missing.';
  if (id === '') return 'id is missing.';
  if (revision < 1n) return 'revision is missing: it is a whole number, 1 or more.';
  if (change.case === undefined) return 'it is neither an upsert nor a deletion.';
  return (
    identifierProblem('owner', owner, maxOwnerBytes) ??
    identifierProblem('id', id, maxIdBytes) ??
    (change.case === 'upsert'
      ? upsertProblem(change.value)
      : timeProblem('deletedAt', change.value.deletedAt))
  );
}

function upsertProblem(design: DesignUpsertFields): string | undefined {
  return (
    identifierProblem('eventId', design.eventId, maxIdBytes) ??
    textProblem('localId', design.localId) ??
    textProblem('title', design.title) ??
    textProblem('eventName', design.eventName) ??
    textProblem('authorName', design.authorName) ??
    textProblem('shortDescr', design.shortDescr, maxDescriptionCharacters) ??
    timeProblem('eventDate', design.eventDate) ??
    timeProblem('updatedAt', design.updatedAt)
  );
}

function identifierProblem(name: string, text = '', maxBytes: number): string | undefined {
  // UTF-8 needs at most three bytes per code unit.
  const tooLong = text.length * 3 > maxBytes && Buffer.byteLength(text) > maxBytes;
  return tooLong ? `${name} is longer than ${maxBytes} bytes.` : unicodeProblem(name, text);
}

function textProblem(name: string, text = '', most = maxCharacters): string | undefined {
  // A character has one code unit or two.
  const tooLong = text.length > most && [...text].length > most;
  return tooLong ? `${name} is longer than ${most} characters.` : unicodeProblem(name, text);
}

function unicodeProblem(name: string, text: string): string | undefined {
  if (text.includes('\0')) return `${name} holds the character U+0000, which cannot be stored.`;
  return text.isWellFormed() ? undefined : `${name} holds half of a surrogate pair: it is not Unicode.`;
}

function timeProblem(name: string, text: string | undefined): string | undefined {
  if (text === undefined || storedTime(text) !== undefined) return undefined;
  return `${name} is not a time such as 2026-05-01T09:30:00Z, in the years 1 to 9999 (UTC).`;
}
