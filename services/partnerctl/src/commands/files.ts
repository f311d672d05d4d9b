// Files that an operator names on the command line; `-` is standard input.
import {
  accessSync,
  closeSync,
  constants,
  fsyncSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import type { Content } from '../designs/line-blocks.ts';
import type { Call } from '../frame/call.ts';
import { unreadableFile, usageProblem } from '../frame/problem.ts';

/** The text of a file of at most a few megabytes. */
export async function readNamed(name: string, call: Call): Promise<string> {
  if (name === '-') return readAll(call.input);
  try {
    return readFileSync(resolve(call.directory, name), 'utf8');
  } catch {
    throw unreadableFile(name);
  }
}

/** Standard input is held in memory, which in a pod is the service's. */
const mostHeldBytes = 64 << 20;

/** What an import reads, more than once: the path of a file, or all of standard input. Throws a Problem. */
export async function importContent(name: string, call: Call): Promise<Content> {
  if (name !== '-') return resolve(call.directory, name);
  const held: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of call.input) {
    const buffer = Buffer.from(chunk);
    bytes += buffer.length;
    if (bytes > mostHeldBytes)
      throw usageProblem(
        'Standard input holds more than 64 MiB.',
        'Split the file, or import it from a file over a port that is forwarded (docs/operator.md).',
      );
    held.push(buffer);
  }
  return held;
}

/** Throws a Problem unless a file can be made or replaced at `path`; what is no regular file is never replaced. */
export function requirePlace(path: string): void {
  try {
    accessSync(dirname(path), constants.W_OK | constants.X_OK);
    const directory = statSync(dirname(path)).isDirectory();
    const found = statSync(path, { throwIfNoEntry: false });
    if (directory && (found === undefined || found.isFile())) return;
  } catch {}
  throw unwritableFile(path);
}

/** Replaces the file at `path`, or makes it: all of it or nothing, mode 0600. Throws a Problem. */
export function replaceFile(path: string, content: string): void {
  const real = statSync(path, { throwIfNoEntry: false }) ? realpathSync(path) : path;
  const draft = `${real}.${process.pid}.new`;
  try {
    const file = openSync(draft, 'wx', 0o600);
    try {
      writeFileSync(file, content);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, real);
  } catch {
    rmSync(draft, { force: true });
    throw unwritableFile(path);
  }
}

function unwritableFile(name: string): Error {
  return usageProblem(`${name} cannot be written.`, 'Name a file in a directory that is yours.');
}
