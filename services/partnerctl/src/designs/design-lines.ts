// Turns an NDJSON file of design changes (docs/feed.md) into messages of an Apply stream.
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { ApplyRequestSchema, DesignChangeSchema } from '@course-exchange/proto/feed/v1';
import { designChangeProblem, highestRevision } from '@course-exchange/rules/design-change';
import * as z from 'zod';
import { given } from '../cli/options.ts';
import { type Content, filled, type LineBlock, lineBlocks, readLine, text } from '../files/ndjson.ts';
import type { RejectedLines } from '../files/rejected-lines.ts';

export type ApplyMessage = Exclude<MessageInitShape<typeof ApplyRequestSchema>, { $typeName: string }> & {
  readonly changes: readonly DesignChangeMessage[];
};

interface Reading {
  readonly source: string;
  /** Changes up to this line are read but not sent. */
  readonly resumedAfter: number;
  readonly rejected: RejectedLines;
  readonly onRead: (lines: number) => void;
}

/** Some 150 KB, far below the 4 MiB that the service accepts. */
const maxChanges = 500;

/** The final message is marked as the source's last. */
export async function* applyMessages(file: Content, reading: Reading): AsyncGenerator<ApplyMessage> {
  const { source } = reading;
  for await (const block of lineBlocks(file)) {
    const changes = changesIn(block, reading);
    for (let start = 0; start < changes.length; start += maxChanges)
      yield { source, changes: changes.slice(start, start + maxChanges) };
    reading.onRead(block.first + block.lines.length - 1);
  }
  yield { source, changes: [], last: true };
}

function changesIn({ first, lines }: LineBlock, reading: Reading): DesignChangeMessage[] {
  const changes: DesignChangeMessage[] = [];
  for (const [index, content] of lines.entries()) {
    if (content?.trim() === '') continue;
    const line = first + index;
    const { change, reason } = readDesignLine(content, line);
    if (reason !== undefined) reading.rejected.add(line, reason, content);
    if (change !== undefined && line > reading.resumedAfter) changes.push(change);
  }
  return changes;
}

type DesignChangeMessage = Exclude<MessageInitShape<typeof DesignChangeSchema>, { $typeName: string }>;

const ofBoth = { owner: filled, id: filled, revision: z.unknown().optional().transform(revisionOf) };
const upsertLine = z.strictObject(
  {
    op: z.literal('upsert'),
    ...ofBoth,
    ...{ title: filled, eventName: filled, shortDescr: filled },
    ...{ localId: text, eventId: text, eventDate: text, updatedAt: text, authorName: text },
  },
  { error: unknownFieldOf('an upsert') },
);
const deleteLine = z.strictObject(
  { op: z.literal('delete'), ...ofBoth, deletedAt: text },
  { error: unknownFieldOf('a delete') },
);
const designLine = z.discriminatedUnion('op', [upsertLine, deleteLine], {
  error: ({ code }) => (code === 'invalid_union' ? 'is neither "upsert" nor "delete".' : undefined),
});

function unknownFieldOf(record: string) {
  return (issue: { readonly code: string; readonly keys?: readonly string[] }) =>
    issue.code === 'unrecognized_keys'
      ? `${JSON.stringify(issue.keys?.[0]?.slice(0, 40))} is not a field of ${record}.`
      : undefined;
}

const tooLarge = 'is too large for a JSON number: write it in quotes.';
const wrongRevision = `is not a whole number from 1 to ${highestRevision}.`;

function revisionOf(value: unknown, { addIssue }: z.RefinementCtx): bigint {
  if (value === undefined || value === null) return 0n;
  const isLarge = typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value);
  const digits = typeof value === 'number' ? String(value) : value;
  const revision = typeof digits === 'string' && /^\d{1,20}$/.test(digits) ? BigInt(digits) : 0n;
  if (!isLarge && revision >= 1n && revision <= highestRevision) return revision;
  addIssue({ code: 'custom', message: isLarge ? tooLarge : wrongRevision });
  return z.NEVER;
}

/** `line` counts from 1 and becomes the position. A reason quotes at most a field's name. */
export function readDesignLine(content: string | undefined, line: number) {
  const read = readLine(designLine, content);
  if (read.reason !== undefined) return { reason: read.reason };
  const { owner, id, revision } = read.value;
  const change = { position: BigInt(line), owner, id, revision, change: changeOf(read.value) };
  const reason = designChangeProblem(change);
  return reason === undefined ? { change } : { reason };
}

/** Null and absent are the same. */
function changeOf(fields: z.output<typeof designLine>) {
  if (fields.op === 'delete')
    return { case: 'deletion', value: given({ deletedAt: fields.deletedAt }) } as const;
  const { title, eventName, shortDescr, localId, eventId, eventDate, updatedAt, authorName } = fields;
  const optional = given({ localId, eventId, eventDate, updatedAt, authorName });
  return { case: 'upsert', value: { title, eventName, shortDescr, ...optional } } as const;
}
