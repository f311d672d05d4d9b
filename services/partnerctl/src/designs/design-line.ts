// One line of an NDJSON file of design changes (docs/feed.md) becomes a change, or a sentence that says why not.
import type { MessageInitShape } from '@bufbuild/protobuf';
import { designChangeProblem, highestRevision } from '@course-exchange/proto/design-change';
import type { DesignChangeSchema } from '@course-exchange/proto/feed/v1';

export type DesignChangeMessage = Exclude<MessageInitShape<typeof DesignChangeSchema>, { $typeName: string }>;
export type ReadLine =
  | { readonly change: DesignChangeMessage; readonly reason?: undefined }
  | { readonly change?: undefined; readonly reason: string };

type Fields = Readonly<Record<string, unknown>>;
/** Its text fields are checked to be texts or null. */
type Texts = Readonly<Record<string, string | null | undefined>>;

const ofBoth = ['owner', 'id'];
const textsOfUpsert: ReadonlySet<string> = new Set([
  ...ofBoth,
  'localId',
  'eventId',
  'title',
  'eventName',
  'eventDate',
  'updatedAt',
  'authorName',
  'shortDescr',
]);
const textsOfDelete: ReadonlySet<string> = new Set([...ofBoth, 'deletedAt']);

/** `line` counts from 1 and becomes the change's position. A reason quotes at most the name of a field. */
export function readDesignLine(text: string, line: number): ReadLine {
  const fields = objectIn(text);
  if (typeof fields === 'string') return { reason: fields };
  const { op } = fields;
  if (op !== 'upsert' && op !== 'delete') return { reason: 'op is neither "upsert" nor "delete".' };
  const mistake = fieldMistake(fields, op === 'upsert' ? textsOfUpsert : textsOfDelete, op);
  if (mistake !== undefined) return { reason: mistake };
  const revision = revisionIn(fields.revision);
  if (typeof revision === 'string') return { reason: revision };
  const change = changeOf(fields as Texts, op, BigInt(line), revision);
  const reason = designChangeProblem(change);
  return reason === undefined ? { change } : { reason };
}

function objectIn(text: string): Fields | string {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Fields)
      : 'it is JSON but no object.';
  } catch {
    return 'it is not JSON.';
  }
}

function fieldMistake(fields: Fields, texts: ReadonlySet<string>, op: string): string | undefined {
  for (const name in fields) {
    const value = fields[name];
    if (texts.has(name)) {
      if (typeof value !== 'string' && value !== null) return `${name} is neither a text nor null.`;
    } else if (name !== 'op' && name !== 'revision')
      return `${JSON.stringify(name.slice(0, 40))} is no field of ${op === 'upsert' ? 'an upsert' : 'a delete'}.`;
  }
  return undefined;
}

const wrongRevision = `revision is not a whole number from 1 to ${highestRevision}.`;

function revisionIn(value: unknown): bigint | string {
  if (value === undefined || value === null) return 0n;
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value))
    return 'revision is too large for a JSON number: write it in quotes.';
  const digits = typeof value === 'number' ? String(value) : value;
  if (typeof digits !== 'string' || !/^\d{1,20}$/.test(digits)) return wrongRevision;
  const revision = BigInt(digits);
  return revision >= 1n && revision <= highestRevision ? revision : wrongRevision;
}

function changeOf(fields: Texts, op: 'upsert' | 'delete', position: bigint, revision: bigint) {
  const key = { position, owner: fields.owner ?? '', id: fields.id ?? '', revision };
  if (op === 'delete') {
    const value = fields.deletedAt == null ? {} : { deletedAt: fields.deletedAt };
    return { ...key, change: { case: 'deletion', value } } as const;
  }
  return { ...key, change: { case: 'upsert', value: designOf(fields) } } as const;
}

function designOf(fields: Texts) {
  return {
    title: fields.title ?? '',
    eventName: fields.eventName ?? '',
    shortDescr: fields.shortDescr ?? '',
    ...(fields.localId == null ? {} : { localId: fields.localId }),
    ...(fields.eventId == null ? {} : { eventId: fields.eventId }),
    ...(fields.eventDate == null ? {} : { eventDate: fields.eventDate }),
    ...(fields.updatedAt == null ? {} : { updatedAt: fields.updatedAt }),
    ...(fields.authorName == null ? {} : { authorName: fields.authorName }),
  };
}
