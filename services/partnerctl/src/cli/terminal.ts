// The three streams as commands see them: who is there, whether colours are wanted, confirmation, and text that cannot
// control a terminal.
import { createInterface } from 'node:readline/promises';
import type { Readable, Writable } from 'node:stream';
import { styleText } from 'node:util';
import { usageError } from './errors.ts';

export type Color = 'bold' | 'dim' | 'red' | 'green' | 'yellow';

/** `text` in a colour, which an output without colours leaves out, and commander too. */
export function paint(color: Color, text: string): string {
  return styleText(color, text, { validateStream: false });
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one
const colorCodes = /\u001b\[\d+m/g;

interface Output {
  readonly write: (text: string) => void;
  readonly isTty: boolean;
  readonly hasColors: boolean;
}

export interface Terminal {
  readonly out: Output;
  readonly err: Output;
  /** Asks on standard error and resolves with the answer; undefined when nobody can be asked. */
  readonly ask: ((question: string) => Promise<string>) | undefined;
  /** Columns of standard output. */
  readonly width: number;
}

type Streams = Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr'>;

export function openTerminal({ stdin, stdout, stderr }: Streams, colors: boolean): Terminal {
  const outputTo = (stream: NodeJS.WriteStream): Output => {
    const isTty = stream.isTTY === true;
    const hasColors = colors && isTty;
    return {
      write: (text) => void stream.write(hasColors ? text : text.replace(colorCodes, '')),
      isTty,
      hasColors,
    };
  };
  const canAsk = stdin.isTTY && stderr.isTTY;
  return {
    out: outputTo(stdout),
    err: outputTo(stderr),
    ask: canAsk ? (question) => askOn(stdin, stderr, question) : undefined,
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

/** `agreed`: --yes or --dry-run was given. Throws a CliError unless the operator agrees. */
export async function confirm(
  { err, ask }: Terminal,
  agreed: boolean,
  question: string,
  facts = '',
): Promise<void> {
  if (agreed) return;
  if (!ask) throw usageError(`${question} There is no terminal to confirm on.`, 'Add --yes if you mean it.');
  err.write(facts);
  const answer = await ask(`${question} Continue? [y/N] `);
  if (!/^y(es)?$/i.test(answer.trim())) throw usageError('Not confirmed; nothing was changed.');
}

/** By https://no-color.org: any value that is not empty; a dumb terminal has no colours either. */
export function wantsColors(
  environment: Readonly<Record<string, string | undefined>>,
  switchedOff: boolean,
): boolean {
  return !switchedOff && !environment.NO_COLOR && environment.TERM !== 'dumb';
}

// Control characters and marks that change the direction of writing: a partner's name must not control the terminal.
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is the control characters that are meant
const controlCharacters = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
/** Those of them that JSON does not escape. */
const unescaped = /[\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** `text` without anything that a terminal would obey. */
export function sanitize(text: string): string {
  return text.replace(controlCharacters, '�');
}

/** Whether `text` holds what JSON and YAML would leave unescaped. */
export function hasControlChars(text: string): boolean {
  return text.search(unescaped) >= 0;
}

/** JSON or double-quoted YAML with the same meaning, without anything that a terminal would obey. */
export function escapeControlChars(text: string): string {
  return text.replace(unescaped, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
