// Validity of a design change (docs/feed.md), for the feed and the import tool.

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
  return `${name} is not a time such as 2026-05-01T09:30:00Z, in the years 1 to 9999.`;
}

/** RFC 3339 as Postgres and table `designs` accept it. */
const timeFormat = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:Z|([+-])(\d\d):(\d\d))$/;

/** To the microsecond; undefined if not in the years 1 to 9999. */
export function storedTime(text: string): string | undefined {
  const parts = timeFormat.exec(text);
  if (parts === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts.slice(1, 7).map(Number);
  if (month < 1 || month > 12 || day < 1 || day > daysOf(year, month)) return undefined;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const [fraction, sign, hours, minutes] = parts.slice(7);
  if (!inRange(year, text, sign, Number(hours), Number(minutes))) return undefined;
  return fraction === undefined || fraction.length <= 6 ? text : text.replace(fraction, fraction.slice(0, 6));
}

function daysOf(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

/** An offset moves the time by up to a day. */
function inRange(
  year: number,
  text: string,
  sign: string | undefined,
  hours: number,
  minutes: number,
): boolean {
  if (sign === undefined) return year >= 1;
  // Postgres reads offsets below 16 hours.
  if (hours > 15 || minutes > 59) return false;
  if (year > 1 && year < 9999) return true;
  const utcYear = new Date(Date.parse(text)).getUTCFullYear();
  return utcYear >= 1 && utcYear <= 9999;
}
