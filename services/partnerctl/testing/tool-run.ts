// One run of the tool within the test's process: words in, exit code and both streams out.
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Ink } from '../src/frame/terminal.ts';
import { runTool, type Surroundings } from '../src/frame/tool.ts';
import { root, tree } from '../src/tree.ts';

export interface ToolRun {
  readonly exit: number;
  readonly out: string;
  readonly err: string;
}

export interface ToolRunOptions extends Partial<Omit<Surroundings, 'terminal'>> {
  /** What a person types when asked; undefined: nobody is there. */
  readonly answer?: string;
  /** A person watches standard output. */
  readonly watched?: boolean;
  readonly width?: number;
}

export async function runWords(words: readonly string[], options: ToolRunOptions = {}): Promise<ToolRun> {
  let out = '';
  let err = '';
  const { answer } = options;
  const plainly = (_: Ink, said: string): string => said;
  const exit = await runTool(words, root, tree, {
    environment: {},
    directory: '/',
    actor: 'ann',
    newRequestId: () => '00000000-0000-4000-8000-000000000000',
    now: () => new Date('2026-11-20T12:00:00Z'),
    sleep: (ms) => sleep(Math.min(ms, 1)),
    signal: new AbortController().signal,
    input: Readable.from([]),
    ...options,
    terminal: {
      out: (said) => {
        out += said;
      },
      err: (said) => {
        err += said;
      },
      paint: plainly,
      paintErr: plainly,
      watched: options.watched ?? false,
      watchedErr: false,
      ask:
        answer === undefined
          ? undefined
          : async (question) => {
              err += question;
              return answer;
            },
      width: options.width ?? 100,
    },
  });
  return { exit, out, err };
}
