// What a failed call means to the operator: the service's sentence, what to do, and the exit code.
import { Code, ConnectError } from '@connectrpc/connect';
import { CliError, type Exit, interruptedError } from '../cli/errors.ts';
import { localTime } from '../output/table.ts';

interface ErrorText {
  readonly exit: Exit;
  /** Where the service sends no sentence of its own. */
  readonly message: string;
  readonly advice?: string;
}

/** By the codes of services/rules/src/error-codes.ts; a test compares them. */
export const errorText: Readonly<Record<string, ErrorText>> = {
  invalid_argument: { exit: 'usage', message: 'The service rejects the input.' },
  not_found: { exit: 'missing', message: 'It does not exist.' },
  already_exists: { exit: 'conflict', message: 'It already exists.' },
  conflict: {
    exit: 'conflict',
    message: 'Somebody else changed it.',
    advice: 'Check the present state, then repeat the command.',
  },
  permission_denied: { exit: 'refused', message: 'The service does not accept this operator.' },
  refused: { exit: 'refused', message: 'A rule forbids it in the present state.' },
  refused_until: { exit: 'early', message: 'It is too early for that.' },
  temporarily_unavailable: {
    exit: 'unreachable',
    message: 'A store of the service does not answer.',
    advice: 'Repeat the command in a moment.',
  },
  server_error: {
    exit: 'refused',
    message: 'The service failed.',
    advice: 'Look for the request id in its log.',
  },
};

/** What a failed call becomes; `address` says which one was tried. Other errors stay what they are. */
export function toCliError(error: unknown, address: () => string): unknown {
  if (!(error instanceof ConnectError)) return error;
  const code = error.metadata.get('error-code') ?? '';
  const text = errorText[code];
  if (!text) return withoutAnswer(error, address());
  const [message = text.message, ...mistakes] = detailLines(error);
  const advice = possibleAt(error) ?? text.advice;
  return new CliError(message, { exit: text.exit, advice, mistakes, code, cause: error });
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

function withoutAnswer(error: ConnectError, address: string): CliError {
  if (error.code === Code.Canceled) return interruptedError(error);
  if (error.code === Code.Unimplemented) {
    return new CliError(`The service at ${address} does not know this command.`, {
      exit: 'refused',
      advice: 'The service and partnerctl are of different versions.',
      cause: error,
    });
  }
  const late = error.code === Code.DeadlineExceeded;
  return new CliError(late ? `No answer in time from ${address}.` : `Nothing answers at ${address}.`, {
    exit: 'unreachable',
    advice: 'Start the service, or give its address with --identity, --catalog or --stack.',
    cause: error,
  });
}
