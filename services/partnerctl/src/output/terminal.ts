// The streams of a command: colours, confirmation, and text that cannot control a terminal.
import { createInterface } from 'node:readline/promises';
import { stripVTControlCharacters, styleText } from 'node:util';
import { usageError } from './errors.ts';

export type Color = 'bold' | 'dim' | 'red' | 'green' | 'yellow';

export function paint(color: Color, text: string): string {
  return styleText(color, text, { validateStream: false });
}

interface Output {
  readonly write: (text: string) => void;
  readonly isTty: boolean;
  readonly hasColors: boolean;
}

export interface Terminal {
  readonly out: Output;
  readonly err: Output;
  readonly ask: ((question: string) => Promise<string>) | undefined;
  readonly width: number;
}

type Streams = Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr'>;

/** Node decides by NO_COLOR and TERM whether a stream has colours. */
export function openTerminal({ stdin, stdout, stderr }: Streams, noColor = false): Terminal {
  const outputTo = (stream: NodeJS.WriteStream): Output => {
    const isTty = stream.isTTY === true;
    const hasColors = isTty && !noColor && stream.hasColors();
    return {
      write: (text) => void stream.write(hasColors ? text : stripVTControlCharacters(text)),
      isTty,
      hasColors,
    };
  };
  const ask = async (question: string): Promise<string> => {
    const reader = createInterface({ input: stdin, output: stderr });
    return reader.question(question).finally(() => reader.close());
  };
  return {
    out: outputTo(stdout),
    err: outputTo(stderr),
    ask: stdin.isTTY && stderr.isTTY ? ask : undefined,
    width: stdout.columns ?? 100,
  };
}

/** `agreed`: --yes or --dry-run. Throws a CliError without agreement. */
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

// Control characters and marks that change the direction of writing: a partner's name must not control the terminal.
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is the control characters that are meant
const controlCharacters = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const unescaped = /[\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

export function sanitize(text: string): string {
  return text.replace(controlCharacters, '�');
}

/** JSON or double-quoted YAML with the same meaning. */
export function escapeControlChars(text: string): string {
  return text.replace(unescaped, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
