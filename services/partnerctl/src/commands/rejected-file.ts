// Which file an import puts its rejected lines into: never one that holds something else.
import { closeSync, openSync, readSync, realpathSync, type Stats, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { RejectedLine } from '../designs/rejected-lines.ts';
import type { Call } from '../frame/call.ts';
import { usageProblem } from '../frame/problem.ts';
import { jsonText } from '../frame/terminal.ts';
import { requirePlace } from './files.ts';

/** Tells each rejected line once on standard error, as JSON, also where an import begins again. */
export function tellRejected(call: Call): (line: RejectedLine) => void {
  let told = 0;
  return ({ line, reason }) => {
    if (line <= told) return;
    told = line;
    call.terminal.err(`${jsonText({ line, reason })}\n`);
  };
}

/**
 * The path of the file, absolute. `given` is what the person named; otherwise it is `<file>.rejected`, which is ours.
 * Undefined for standard input without a named file.
 * Throws a Problem when it is the imported file or its journal, or exists and was not written by an import.
 * Changes nothing.
 */
export function rejectedFileOf(call: Call, name: string, given: string | undefined): string | undefined {
  const file = resolve(call.directory, name);
  if (name === '-' && given === undefined) return undefined;
  const path = resolve(call.directory, given ?? `${file}.rejected`);
  for (const [other, said] of [
    [file, 'the imported file itself'],
    [`${file}.import`, 'the journal of the import'],
  ] as const) {
    if (isSame(path, other))
      throw usageProblem(
        `The rejected lines cannot go to ${path}: it is ${said}.`,
        'Name another file with --rejected.',
      );
  }
  if (given === undefined) return path;
  const found = statSync(path, { throwIfNoEntry: false });
  if (found && !isOurs(path, found))
    throw usageProblem(`${path} exists already.`, 'Name a new file, or that of an earlier import.');
  requirePlace(path);
  return path;
}

/** Also under another name: a link, or another way to the same directory. */
function isSame(one: string, other: string): boolean {
  if (realOf(one) === realOf(other)) return true;
  const [first, second] = [one, other].map((path) => statSync(path, { throwIfNoEntry: false }));
  return first !== undefined && first.dev === second?.dev && first.ino === second.ino;
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return dirname(path) === path ? path : join(realOf(dirname(path)), basename(path));
  }
}

/** The start of every line of such a file; a line may be some megabytes long. */
const start = /^\{"line":[1-9]\d*,"reason":"/;

function isOurs(path: string, found: Stats): boolean {
  if (!found.isFile()) return false;
  const bytes = Buffer.alloc(64);
  try {
    const file = openSync(path, 'r');
    const length = readSync(file, bytes);
    closeSync(file);
    return start.test(bytes.toString('latin1', 0, length));
  } catch {
    return false;
  }
}
