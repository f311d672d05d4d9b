// The file of lines that were put aside: one JSON object a line with its number, the reason and what it said.
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';

export interface RejectedLine {
  readonly line: number;
  readonly reason: string;
}

export interface RejectedLines {
  /** `text` is undefined for a line that is no text. */
  readonly add: (line: number, reason: string, text: string | undefined) => void;
  readonly count: () => number;
  /** The first of them, to show. */
  readonly first: () => readonly RejectedLine[];
  readonly close: () => void;
}

/** The path of a file; who is told of each line; undefined: nowhere. */
export type RejectedPlace = string | ((line: RejectedLine) => void) | undefined;

const shown = 10;

/**
 * Replaces the file of an earlier import; where nothing is put aside there is none. It may hold names of people:
 * its owner alone reads it. Who is told in the place of a file is told number and reason only.
 */
export function openRejectedLines(place: RejectedPlace): RejectedLines {
  const path = typeof place === 'string' ? place : undefined;
  if (path !== undefined) rmSync(path, { force: true });
  const first: RejectedLine[] = [];
  let count = 0;
  let file: number | undefined;
  return {
    add: (line, reason, text) => {
      count += 1;
      if (first.length < shown) first.push({ line, reason });
      if (typeof place === 'function') place({ line, reason });
      if (path === undefined) return;
      file ??= openSync(path, 'w', 0o600);
      writeSync(file, `${JSON.stringify({ line, reason, text })}\n`);
    },
    count: () => count,
    first: () => first,
    close: () => {
      if (file !== undefined) closeSync(file);
      file = undefined;
    },
  };
}
