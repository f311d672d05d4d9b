// What the tool's exit code tells a script. docs/operator.md lists the same table; a test compares them.

export const exitCodes = {
  done: { code: 0, means: 'Done, or nothing was to be done.' },
  refused: { code: 1, means: 'Refused or failed; the message says why.' },
  usage: {
    code: 2,
    means:
      'The command line or a file given to it is wrong, or the question was not confirmed. Nothing was tried.',
  },
  unreachable: {
    code: 3,
    means: 'The service does not answer. Before you repeat a write, look whether it was done.',
  },
  conflict: {
    code: 4,
    means: 'It exists already, or somebody changed it meanwhile. Look again, then repeat.',
  },
  missing: { code: 5, means: 'There is no such client, user, consent, secret or key.' },
  early: { code: 6, means: 'Too early: the message says from when on it is possible.' },
  interrupted: { code: 130, means: 'Interrupted by Ctrl-C.' },
} as const;

export type Exit = keyof typeof exitCodes;
