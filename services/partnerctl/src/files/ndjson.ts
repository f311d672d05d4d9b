// NDJSON of any size, in blocks of whole lines.
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import * as z from 'zod';
import { unreadableFile, usageError } from '../output/errors.ts';
import { beginningBytes, otherFormat } from './format.ts';

/** A file's path, or standard input; read more than once. */
export type Content = string | readonly Buffer[];

interface LineBlock {
  readonly first: number;
  /** Without line breaks; undefined for a line that is not UTF-8. */
  readonly lines: readonly (string | undefined)[];
}

const chunkBytes = 1 << 20;
const maxLineBytes = 4 << 20;
const lineBreak = 0x0a;

/** `mixed`: other lines are skipped, as in a log. Throws a CliError for another format. */
export async function requireNdjson(content: Content, mixed = false): Promise<void> {
  let beginning: Buffer = Buffer.alloc(0);
  for await (const chunk of chunksOf(content)) {
    beginning = Buffer.concat([beginning, chunk]);
    if (beginning.length >= beginningBytes) break;
  }
  const other = otherFormat(beginning.subarray(0, beginningBytes), mixed);
  if (other === undefined) return;
  const name = typeof content === 'string' ? content : 'Standard input';
  throw usageError(
    `${name} is ${other.is}; NDJSON is expected: one JSON object a line, in UTF-8.`,
    other.advice,
  );
}

/** `digest`: SHA-256, base64url. Throws a CliError when it cannot be read or is no NDJSON. */
export async function identifyFile(content: Content) {
  await requireNdjson(content);
  const hash = createHash('sha256');
  let lines = 0;
  let endsWhole = true;
  for await (const chunk of chunksOf(content)) {
    hash.update(chunk);
    for (let at = chunk.indexOf(lineBreak); at !== -1; at = chunk.indexOf(lineBreak, at + 1)) lines += 1;
    endsWhole = chunk.at(-1) === lineBreak;
  }
  return { digest: hash.digest('base64url'), lines: endsWhole ? lines : lines + 1 };
}

export const text = z
  .string({ error: 'is neither text nor null.' })
  .refine((value) => value.isWellFormed(), 'holds half of a surrogate pair: it is not Unicode.')
  .nullish();

export const filled = text.transform((value) => value ?? '');

/** A reason quotes at most a field's name. */
export function readLine<Schema extends z.ZodType>(
  schema: Schema,
  line: string | undefined,
): { readonly value: z.output<Schema>; readonly reason?: undefined } | { readonly reason: string } {
  if (line === undefined) return { reason: 'It is not UTF-8.' };
  let json: unknown;
  try {
    json = JSON.parse(line);
  } catch {
    return { reason: 'It is not valid JSON.' };
  }
  const { success, data, error } = schema.safeParse(json);
  if (success) return { value: data };
  const { path = [], message = '', code = '' } = error.issues[0] ?? {};
  if (path.length > 0) return { reason: `${path.join('.')} ${message}` };
  return { reason: code === 'invalid_type' ? 'It is not a JSON object.' : message };
}

/** Skips a byte order mark. Throws a CliError for an endless line. */
export async function* lineBlocks(content: Content): AsyncGenerator<LineBlock> {
  let first = 1;
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunksOf(content)) {
    const end = chunk.lastIndexOf(lineBreak);
    if (end === -1) {
      rest = Buffer.concat([rest, chunk]);
      if (rest.length <= maxLineBytes) continue;
      throw usageError(`A line after line ${first - 1} is longer than 4 MiB: this is not NDJSON.`);
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

const byteOrderMark = Buffer.from('\ufeff');

function linesIn(block: Buffer, first: number): (string | undefined)[] {
  const marked = first === 1 && block.subarray(0, byteOrderMark.length).equals(byteOrderMark);
  const bytes = marked ? block.subarray(byteOrderMark.length) : block;
  if (isUtf8(bytes)) return bytes.toString().split('\n');
  // Every byte is a character in latin1.
  const lines = bytes
    .toString('latin1')
    .split('\n')
    .map((line) => Buffer.from(line, 'latin1'));
  return lines.map((one) => (isUtf8(one) ? one.toString() : undefined));
}
