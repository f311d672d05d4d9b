// The messages of an Apply stream from a file of design changes: read block by block, no faster than they are taken.
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { ApplyRequestSchema } from '@course-exchange/proto/feed/v1';
import { type DesignChangeMessage, readDesignLine } from './design-line.ts';
import { type Content, type LineBlock, lineBlocks } from './line-blocks.ts';
import type { RejectedLines } from './rejected-lines.ts';

export type ApplyMessage = Exclude<MessageInitShape<typeof ApplyRequestSchema>, { $typeName: string }> & {
  readonly changes: readonly DesignChangeMessage[];
};

export interface Reading {
  readonly source: string;
  /** Changes up to this line are read but not sent. */
  readonly resumedAfter: number;
  readonly stopAtRejected: boolean;
  readonly rejected: RejectedLines;
  /** Told how many lines are read. */
  readonly read: (lines: number) => void;
}

/** Some 150 KB; a block and so a message stays far below the 4 MiB that the service takes. */
const changesInMessage = 500;

/** The final message is marked as the source's last unless a rejected line ended the reading. */
export async function* applyMessages(file: Content, reading: Reading): AsyncGenerator<ApplyMessage> {
  const { source } = reading;
  for await (const block of lineBlocks(file)) {
    const changes = changesIn(block, reading);
    for (let start = 0; start < changes.length; start += changesInMessage)
      yield { source, changes: changes.slice(start, start + changesInMessage) };
    reading.read(block.first + block.lines.length - 1);
    if (ended(reading)) {
      // So that the caller sees a message without the mark at the end.
      yield { source, changes: [] };
      return;
    }
  }
  yield { source, changes: [], last: true };
}

function ended({ stopAtRejected, rejected }: Reading): boolean {
  return stopAtRejected && rejected.count() > 0;
}

function changesIn({ first, lines }: LineBlock, reading: Reading): DesignChangeMessage[] {
  const changes: DesignChangeMessage[] = [];
  for (const [index, text] of lines.entries()) {
    const line = first + index;
    const change = changeIn(text, line, reading.rejected);
    if (ended(reading)) break;
    if (change !== undefined && line > reading.resumedAfter) changes.push(change);
  }
  return changes;
}

/** Undefined for an empty line and for one that was put aside. */
function changeIn(
  text: string | undefined,
  line: number,
  rejected: RejectedLines,
): DesignChangeMessage | undefined {
  if (text?.trim() === '') return undefined;
  const read = text === undefined ? { reason: 'it is not UTF-8.' } : readDesignLine(text, line);
  if (read.reason !== undefined) rejected.add(line, read.reason, text);
  return read.change;
}
