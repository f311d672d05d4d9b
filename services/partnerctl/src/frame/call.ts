// What a command gets to work with: the terminal, the services, the clock, and what was asked for in general.
import type { Connections } from '../connection/connections.ts';
import { usageProblem } from './problem.ts';
import type { Terminal } from './terminal.ts';

export interface Call {
  readonly terminal: Terminal;
  readonly services: Connections;
  readonly now: () => Date;
  /** Resolves after so many milliseconds. */
  readonly sleep: (ms: number) => Promise<void>;
  /** Ends when the person presses Ctrl-C. */
  readonly signal: AbortSignal;
  readonly json: boolean;
  /** Say what would change and change nothing. */
  readonly dryRun: boolean;
  /** In which file names are looked up. */
  readonly directory: string;
  /** Standard input, for a file named `-`. */
  readonly input: NodeJS.ReadableStream;
  /**
   * Resolves when the person agreed or --yes was given, throws otherwise. `question` ends with a full stop;
   * `facts` are shown above it.
   */
  readonly confirm: (question: string, facts?: string) => Promise<void>;
}

export function confirmOn(terminal: Terminal, yes: boolean): Call['confirm'] {
  return async (question, facts = '') => {
    if (yes) return;
    if (!terminal.ask) {
      throw usageProblem(`${question} There is no terminal to ask on.`, 'Add --yes if this is meant.');
    }
    terminal.err(facts);
    const answer = await terminal.ask(`${question} Go on? [y/N] `);
    if (/^y(es)?$/i.test(answer.trim())) return;
    throw usageProblem('Not confirmed; nothing was changed.');
  };
}
