// Reads a large text file as blocks of whole lines, and knows it again by its content.
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { unreadableFile, usageProblem } from '../frame/problem.ts';

/** The path of a file, or what standard input held, to be read more than once. */
export type Content = string | readonly Buffer[];

export interface LineBlock {
  /** Number of the first line; lines count from 1. */
  readonly first: number;
  /** Without their line breaks; undefined for a line that is not UTF-8. */
  readonly lines: readonly (string | undefined)[];
}

export interface FileIdentity {
  /** SHA-256 of the content, base64url. */
  readonly digest: string;
  /** Line breaks, and one more when the last line has none. */
  readonly lines: number;
}

const chunkBytes = 1 << 20;
const longestLineBytes = 4 << 20;
const lineBreak = 0x0a;

/** Reads the whole file once. Throws a Problem when it cannot be read. */
export async function identifyFile(content: Content): Promise<FileIdentity> {
  const hash = createHash('sha256');
  let lines = 0;
  let endsWhole = true;
  for await (const chunk of chunksOf(content)) {
    hash.update(chunk);
    lines += countBreaks(chunk);
    endsWhole = chunk.at(-1) === lineBreak;
  }
  return { digest: hash.digest('base64url'), lines: endsWhole ? lines : lines + 1 };
}

/** A byte order mark at the start of the file is left out. Throws a Problem for a line that has no end. */
export async function* lineBlocks(content: Content): AsyncGenerator<LineBlock> {
  let first = 1;
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunksOf(content)) {
    const end = chunk.lastIndexOf(lineBreak);
    if (end === -1) {
      rest = Buffer.concat([rest, chunk]);
      if (rest.length > longestLineBytes)
        throw usageProblem(
          `A line after line ${first - 1} is longer than 4 MiB: this is no file of designs.`,
        );
      continue;
    }
    const lines = linesIn(Buffer.concat([rest, chunk.subarray(0, end)]), first);
    rest = Buffer.from(chunk.subarray(end + 1));
    yield { first, lines };
    first += lines.length;
  }
  if (rest.length > 0) yield { first, lines: linesIn(rest, first) };
}

async function* chunksOf(content: Content): AsyncGenerator<Buffer> {
  if (typeof content !== 'string') {
    yield* content;
    return;
  }
  try {
    yield* createReadStream(content, { highWaterMark: chunkBytes });
  } catch {
    throw unreadableFile(content);
  }
}

function countBreaks(chunk: Buffer): number {
  let count = 0;
  for (let at = chunk.indexOf(lineBreak); at !== -1; at = chunk.indexOf(lineBreak, at + 1)) count += 1;
  return count;
}

function linesIn(block: Buffer, first: number): (string | undefined)[] {
  const marked = first === 1 && block[0] === 0xef && block[1] === 0xbb && block[2] === 0xbf;
  const bytes = marked ? block.subarray(3) : block;
  if (isUtf8(bytes)) return bytes.toString('utf8').split('\n');
  return splitBytes(bytes).map((line) => (isUtf8(line) ? line.toString('utf8') : undefined));
}

function splitBytes(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  let start = 0;
  for (let at = bytes.indexOf(lineBreak); at !== -1; at = bytes.indexOf(lineBreak, start)) {
    lines.push(bytes.subarray(start, at));
    start = at + 1;
  }
  return [...lines, bytes.subarray(start)];
}
