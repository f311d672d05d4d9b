// files/ is the files that commands read and write: NDJSON in blocks, other formats refused by their first bytes, rejected lines.

// Files named on the command line; `-` is standard input.
import {
  accessSync,
  constants,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import type { CommandContext } from '../cli/command.ts';
import { type CliError, unreadableFile, usageError } from '../output/errors.ts';
import type { Content } from './ndjson.ts';

type InputSource = Pick<CommandContext, 'directory' | 'input'>;

export async function readTextFile({ directory, input }: InputSource, name: string): Promise<string> {
  if (name === '-') return readAll(input);
  try {
    return readFileSync(resolve(directory, name), 'utf8');
  } catch {
    throw unreadableFile(name);
  }
}

/** Standard input is held in memory, in a pod the service's. */
const maxInputBytes = 64 << 20;

export async function importContent(
  { directory, input }: InputSource,
  name: string,
  lessen = 'Split the file',
): Promise<Content> {
  if (name !== '-') return resolve(directory, name);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of input) {
    const buffer = Buffer.from(chunk);
    chunks.push(buffer);
    bytes += buffer.length;
    if (bytes <= maxInputBytes) continue;
    throw usageError(
      'Standard input is larger than 64 MiB.',
      `${lessen}, or name a file over a forwarded port (docs/operate.md).`,
    );
  }
  return chunks;
}

/** Throws unless a file can be created or replaced; only a regular file is ever replaced. */
export function requireWritable(path: string): void {
  try {
    accessSync(dirname(path), constants.W_OK | constants.X_OK);
    const inDirectory = statSync(dirname(path)).isDirectory();
    if (inDirectory && statSync(path, { throwIfNoEntry: false })?.isFile() !== false) return;
  } catch {}
  throw unwritableFile(path);
}

/** Replaces or creates the file at `path` atomically, mode 0600. */
export function replaceFile(path: string, content: string): void {
  const real = statSync(path, { throwIfNoEntry: false }) ? realpathSync(path) : path;
  const draft = `${real}.${process.pid}.new`;
  try {
    writeFileSync(draft, content, { flag: 'wx', mode: 0o600, flush: true });
    renameSync(draft, real);
  } catch {
    rmSync(draft, { force: true });
    throw unwritableFile(path);
  }
}

function unwritableFile(name: string): CliError {
  return usageError(`${name} cannot be written.`, 'Name a file in a directory of your own.');
}
