// A problem as the operator reads it: one sentence, what to do about it, and the exit code that it ends with.
import type { Exit } from './exit-codes.ts';

export interface ProblemParts {
  readonly exit: Exit;
  /** What to do now; one sentence or command. */
  readonly advice?: string | undefined;
  /** Further mistakes, one sentence each. */
  readonly mistakes?: readonly string[] | undefined;
  /** The service's own code, for scripts. */
  readonly code?: string | undefined;
  readonly cause?: unknown;
}

/** Ends a command. `message` is one sentence and never holds a secret. */
export class Problem extends Error {
  readonly exit: Exit;
  readonly advice: string | undefined;
  readonly mistakes: readonly string[];
  readonly code: string;

  constructor(message: string, { exit, advice, mistakes = [], code, cause }: ProblemParts) {
    super(message, { cause });
    this.name = 'Problem';
    this.exit = exit;
    this.advice = advice;
    this.mistakes = mistakes;
    this.code = code ?? exit;
  }
}

/** The command line, or a file that it names, is wrong. */
export function usageProblem(message: string, advice?: string): Problem {
  return new Problem(message, { exit: 'usage', advice });
}

export function unreadableFile(name: string): Problem {
  return usageProblem(
    `${name} cannot be read.`,
    'Check the name; relative names start at the current directory.',
  );
}
