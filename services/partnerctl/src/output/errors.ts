// How a command fails: one sentence, advice, and the exit code for scripts.

export const exitCodes = {
  done: { code: 0, means: 'Done, or nothing to do.' },
  refused: {
    code: 1,
    means: 'Refused or failed; the message says why. `client conduct`: the client broke a duty.',
  },
  usage: {
    code: 2,
    means:
      'The command line or an input file is wrong, the command line names more than one, or you did not confirm. Nothing was attempted.',
  },
  unreachable: {
    code: 3,
    means: 'The service does not answer. Before you repeat a write, check whether it went through.',
  },
  conflict: {
    code: 4,
    means: 'It already exists, or somebody else changed it. Check the present state, then repeat.',
  },
  missing: { code: 5, means: 'There is no such client, user, consent, secret, key or record of a refusal.' },
  early: { code: 6, means: 'Too early; the message says when it becomes possible.' },
  interrupted: { code: 130, means: 'Interrupted by Ctrl-C.' },
} as const;

export type Exit = keyof typeof exitCodes;

interface Details {
  readonly advice?: string | undefined;
  readonly mistakes?: readonly string[];
  /** The service's own code, for scripts; otherwise the name of the exit. */
  readonly code?: string;
  /** Of the call that failed. */
  readonly requestId?: string | undefined;
  readonly cause?: unknown;
}

/** Ends a command. `message` is one sentence and never holds a secret. */
export class CliError extends Error {
  readonly exit: Exit;
  readonly details: Details;

  constructor(exit: Exit, message: string, details: Details = {}) {
    super(message, { cause: details.cause });
    this.name = 'CliError';
    this.exit = exit;
    this.details = details;
  }
}

export function usageError(message: string, advice?: string): CliError {
  return new CliError('usage', message, { advice });
}

export function unreadableFile(name: string): CliError {
  return usageError(
    `${name} cannot be read.`,
    'Check the name; relative names start at the current directory.',
  );
}
