// Rejected lines of an import, as JSON objects.
import { closeSync, openSync, readSync, realpathSync, rmSync, statSync, writeSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { CommandContext } from '../cli/command.ts';
import { usageError } from '../output/errors.ts';
import { jsonText, type Result } from '../output/result.ts';
import { sanitize } from '../output/terminal.ts';
import { requireWritable } from './named-files.ts';

export interface RejectedLine {
  readonly line: number;
  readonly reason: string;
}

export type RejectedTarget = string | ((line: RejectedLine) => void) | undefined;

export type RejectedLines = ReturnType<typeof openRejectedLines>;

const maxShown = 10;

/**
 * Replaces an earlier import's file, readable by its owner only: it may hold personal names. Another target gets
 * number and reason only.
 */
export function openRejectedLines(target: RejectedTarget) {
  const path = typeof target === 'string' ? target : undefined;
  if (path !== undefined) rmSync(path, { force: true });
  const first: RejectedLine[] = [];
  let count = 0;
  let file: number | undefined;
  return {
    /** `text`: the line, if it may be kept. */
    add: (line: number, reason: string, text?: string): void => {
      count += 1;
      if (first.length < maxShown) first.push({ line, reason });
      if (typeof target === 'function') target({ line, reason });
      if (path === undefined) return;
      file ??= openSync(path, 'w', 0o600);
      writeSync(file, `${JSON.stringify({ line, reason, text })}\n`);
    },
    count: () => count,
    first: (): readonly RejectedLine[] => first,
    close: (): void => {
      if (file !== undefined) closeSync(file);
      file = undefined;
    },
  };
}

interface ImportReport {
  /** The line after which the import resumed; 0: from the start. */
  readonly resumedAfter: number;
  readonly rejected: number;
  readonly rejectedFile: string | undefined;
}

export function importResult(report: ImportReport, counts: string, first: readonly RejectedLine[]): Result {
  const { resumedAfter, rejected, rejectedFile } = report;
  const resumed = resumedAfter > 0 ? `Resumed after line ${resumedAfter}.\n` : '';
  const lines = first.map(({ line, reason }) => `  line ${line}: ${reason}\n`).join('');
  const all = rejectedFile === undefined ? '' : `All rejected lines are in ${sanitize(rejectedFile)}.\n`;
  return { json: report, text: resumed + counts + lines + all, exit: rejected > 0 ? 'refused' : 'done' };
}

/** As JSON, each line once, even when an import restarts. */
export function reportRejected({ terminal }: CommandContext): (line: RejectedLine) => void {
  let reported = 0;
  return ({ line, reason }) => {
    if (line > reported) terminal.err.write(`${jsonText({ line, reason })}\n`);
    reported = Math.max(reported, line);
  };
}

/**
 * --rejected, or `<file>.rejected`; undefined for standard input without the option. Throws if it is the imported
 * file, or exists and was not written by an import.
 */
export function rejectedPath(
  { directory }: CommandContext,
  imported: string,
  option: string | undefined,
): string | undefined {
  if (imported === '-' && option === undefined) return undefined;
  const file = resolve(directory, imported);
  const path = resolve(directory, option ?? `${file}.rejected`);
  refuseSame(path, file);
  if (option === undefined) return path;
  if (!mayReplace(path))
    throw usageError(`${path} already exists.`, 'Name a new file, or that of an earlier import.');
  requireWritable(path);
  return path;
}

/** Also detects a link, or another path to the same directory. */
function refuseSame(path: string, other: string): void {
  const [one, two] = [path, other].map((each) => statSync(each, { throwIfNoEntry: false }));
  const isSameFile = one !== undefined && one.dev === two?.dev && one.ino === two.ino;
  if (!isSameFile && realPath(path) !== realPath(other)) return;
  throw usageError(
    `The rejected lines cannot go to ${path}: it is the imported file itself.`,
    'Name another file with --rejected.',
  );
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return dirname(path) === path ? path : join(realPath(dirname(path)), basename(path));
  }
}

/** Only the start: a line may be some megabytes long. */
const lineStart = /^\{"line":[1-9]\d*,"reason":"/;

function mayReplace(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found?.isFile()) return found === undefined;
  const bytes = Buffer.alloc(64);
  try {
    const file = openSync(path, 'r');
    const length = readSync(file, bytes);
    closeSync(file);
    return lineStart.test(bytes.toString('latin1', 0, length));
  } catch {
    return false;
  }
}
