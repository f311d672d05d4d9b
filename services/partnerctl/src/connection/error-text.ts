// Explains a failed call to the operator.
import { Code, ConnectError } from '@connectrpc/connect';
import { CliError, type Exit } from '../cli/errors.ts';
import { localTime } from '../output/table.ts';

/** The message is used if the service sends no sentence. */
type ErrorText = readonly [exit: Exit, message: string, advice?: string];

/** By the codes of services/rules/src/error-codes.ts; a test compares them. */
export const errorText: Readonly<Record<string, ErrorText>> = {
  invalid_argument: ['usage', 'The service rejects the input.'],
  not_found: ['missing', 'It does not exist.'],
  already_exists: ['conflict', 'It already exists.'],
  conflict: ['conflict', 'Somebody else changed it.', 'Check the present state, then repeat the command.'],
  permission_denied: ['refused', 'The service does not accept this operator.'],
  refused: ['refused', 'A rule forbids it in the present state.'],
  refused_until: ['early', 'It is too early for that.'],
  temporarily_unavailable: [
    'unreachable',
    'A store of the service does not answer.',
    'Repeat the command in a moment.',
  ],
  server_error: ['refused', 'The service failed.', 'Look for the request id in its log.'],
};

/** `address`: of the service that was called. Other errors are returned unchanged. */
export function toCliError(cause: unknown, address: () => string): unknown {
  if (!(cause instanceof ConnectError)) return cause;
  const { metadata } = cause;
  const code = metadata.get('error-code') ?? '';
  const text = errorText[code];
  if (!text) return withoutAnswer(cause, address());
  const [exit, usual, usualAdvice] = text;
  const [message = usual, ...mistakes] = detailLines(metadata.get('error-detail') ?? '');
  const possibleAt = metadata.get('error-possible-at');
  const advice = possibleAt ? `Possible from ${localTime(new Date(possibleAt))} on.` : usualAdvice;
  return new CliError(exit, message, { advice, mistakes, code, cause });
}

function detailLines(detail: string): readonly string[] {
  try {
    return decodeURIComponent(detail).split('\n').filter(Boolean);
  } catch {
    return [];
  }
}

function withoutAnswer(cause: ConnectError, address: string): CliError {
  if (cause.code === Code.Unimplemented) {
    const advice = 'The service and partnerctl are of different versions.';
    return new CliError('refused', `The service at ${address} does not know this command.`, {
      advice,
      cause,
    });
  }
  const timedOut = cause.code === Code.DeadlineExceeded;
  return new CliError(
    'unreachable',
    timedOut ? `No answer in time from ${address}.` : `Nothing answers at ${address}.`,
    { advice: 'Start the service, or give its address with --identity, --catalog or --stack.', cause },
  );
}
