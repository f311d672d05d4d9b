// The three streams as the commands see them: whether a person watches, whether colours are welcome, and asking.
import { createInterface } from 'node:readline/promises';
import type { Readable, Writable } from 'node:stream';
import { styleText } from 'node:util';

export type Ink = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';
/** Paints `words`, or leaves them as they are. */
export type Paint = (ink: Ink, words: string) => string;

export interface Terminal {
  readonly out: (words: string) => void;
  readonly err: (words: string) => void;
  readonly paint: Paint;
  readonly paintErr: Paint;
  /** A person watches standard output. */
  readonly watched: boolean;
  /** A person watches standard error: progress may be shown. */
  readonly watchedErr: boolean;
  /** Asks on standard error and resolves with the answer; undefined when nobody can be asked. */
  readonly ask: ((question: string) => Promise<string>) | undefined;
  /** Columns of standard output. */
  readonly width: number;
}

type InputStream = Readable & { readonly isTTY?: boolean };
type OutputStream = Writable & { readonly isTTY?: boolean; readonly columns?: number };

export interface Streams {
  readonly stdin: InputStream;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
}

export function openTerminal({ stdin, stdout, stderr }: Streams, colours: boolean): Terminal {
  const paintFor =
    (stream: OutputStream): Paint =>
    (ink, words) =>
      colours && stream.isTTY ? styleText(ink, words, { validateStream: false }) : words;
  const asks = stdin.isTTY && stderr.isTTY;
  return {
    out: (words) => void stdout.write(words),
    err: (words) => void stderr.write(words),
    paint: paintFor(stdout),
    paintErr: paintFor(stderr),
    watched: stdout.isTTY === true,
    watchedErr: stderr.isTTY === true,
    ask: asks ? (question) => askOn(stdin, stderr, question) : undefined,
    width: stdout.columns ?? 100,
  };
}

async function askOn(input: Readable, output: Writable, question: string): Promise<string> {
  const reader = createInterface({ input, output });
  try {
    return await reader.question(question);
  } finally {
    reader.close();
  }
}

/** By https://no-color.org: any value that is not empty; a dumb terminal has no colours either. */
export function coloursWanted(
  environment: Readonly<Record<string, string | undefined>>,
  switchedOff: boolean,
): boolean {
  return !switchedOff && !environment.NO_COLOR && environment.TERM !== 'dumb';
}

// Controls and the marks that turn the direction of writing: a partner's name must not steer the terminal.
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is the control characters that are meant
const steering = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
/** Those of them that JSON lets pass as they are. */
const unescaped = /[\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** `words` without anything that a terminal would obey. */
export function harmless(words: string): string {
  return words.replace(steering, '�');
}

/** Whether `words` hold what must be escaped in JSON and YAML. */
export function steers(words: string): boolean {
  return words.search(unescaped) >= 0;
}

/** JSON or double-quoted YAML with the same meaning, without anything that a terminal would obey. */
export function escaped(text: string): string {
  return text.replace(unescaped, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** `value` as JSON without anything that a terminal would obey. */
export function jsonText(value: unknown, indent?: number): string {
  return escaped(JSON.stringify(value, null, indent));
}
