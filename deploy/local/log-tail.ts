// The last lines of a process's log, for a report about its end.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

const bytes = 16 * 1024;

/** At most `count` lines, each indented; empty when there is no log. */
export function logTail(file: string, count = 24): string {
  try {
    return readEnd(file)
      .trimEnd()
      .split('\n')
      .slice(-count)
      .map((line) => `    ${line}`)
      .join('\n');
  } catch {
    return '';
  }
}

function readEnd(file: string): string {
  const descriptor = openSync(file, 'r');
  try {
    const { size } = fstatSync(descriptor);
    const buffer = Buffer.alloc(Math.min(size, bytes));
    readSync(descriptor, buffer, 0, buffer.length, size - buffer.length);
    return buffer.toString('utf8');
  } finally {
    closeSync(descriptor);
  }
}
