// What a failed call means to the operator: the service's sentence, what to do, and the exit code.
import { Code, ConnectError } from '@connectrpc/connect';
import type { Exit } from '../frame/exit-codes.ts';
import { Problem } from '../frame/problem.ts';
import { localTime } from '../output/times.ts';

interface Meaning {
  readonly exit: Exit;
  readonly sentence: string;
  readonly advice?: string;
}

/** By the codes of proto/operator-error-codes.ts; a test compares them. */
export const meanings: Readonly<Record<string, Meaning>> = {
  invalid_argument: { exit: 'usage', sentence: 'The service refuses what was given.' },
  not_found: { exit: 'missing', sentence: 'There is no such thing.' },
  already_exists: { exit: 'conflict', sentence: 'It exists already.' },
  conflict: {
    exit: 'conflict',
    sentence: 'Somebody changed it meanwhile.',
    advice: 'Look again, then repeat the command.',
  },
  permission_denied: {
    exit: 'refused',
    sentence: 'The service does not accept this operator.',
  },
  refused: { exit: 'refused', sentence: 'A rule forbids it as things stand.' },
  refused_until: { exit: 'early', sentence: 'It is too early for that.' },
  temporarily_unavailable: {
    exit: 'unreachable',
    sentence: 'A store of the service does not answer.',
    advice: 'Repeat the command in a moment.',
  },
  server_error: {
    exit: 'refused',
    sentence: 'The service failed.',
    advice: 'Look for the request id in its log.',
  },
};

/** The problem that `error` is; `whereIs` says which address was tried. Unknown errors stay what they are. */
export function problemOf(error: unknown, whereIs: () => string): unknown {
  if (!(error instanceof ConnectError)) return error;
  const code = error.metadata.get('error-code') ?? undefined;
  const meaning = code === undefined ? undefined : meanings[code];
  if (!meaning) return unanswered(error, whereIs());
  const [sentence = meaning.sentence, ...mistakes] = detailLines(error);
  const advice = possibleAt(error) ?? meaning.advice;
  return new Problem(sentence, { exit: meaning.exit, advice, mistakes, code, cause: error });
}

/** The first line is the sentence, further ones are mistakes. */
function detailLines(error: ConnectError): readonly string[] {
  const detail = error.metadata.get('error-detail');
  if (!detail) return [];
  try {
    return decodeURIComponent(detail).split('\n').filter(Boolean);
  } catch {
    return [];
  }
}

function possibleAt(error: ConnectError): string | undefined {
  const time = error.metadata.get('error-possible-at');
  return time ? `Possible from ${localTime(new Date(time))} on.` : undefined;
}

function unanswered(error: ConnectError, where: string): Problem {
  if (error.code === Code.Canceled) {
    return new Problem('Interrupted.', { exit: 'interrupted', cause: error });
  }
  if (error.code === Code.Unimplemented) {
    return new Problem(`The service at ${where} does not know this command.`, {
      exit: 'refused',
      advice: 'The service and partnerctl are of different versions.',
      cause: error,
    });
  }
  const waited = error.code === Code.DeadlineExceeded;
  return new Problem(waited ? `No answer in time from ${where}.` : `Nothing answers at ${where}.`, {
    exit: 'unreachable',
    advice: 'Start the service, or name its address with --identity, --catalog or --stack.',
    cause: error,
  });
}
