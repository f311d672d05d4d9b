// Which failures mean that the service or its store went away, so that the same import may go on when it is back.
import { Code, ConnectError } from '@connectrpc/connect';

/** Codes that a broken or refused connection has; none of them is an answer of the service. */
const lost: readonly Code[] = [Code.Unavailable, Code.Aborted, Code.Internal, Code.Unknown, Code.Canceled];

export function isInterruption(error: unknown): boolean {
  if (!(error instanceof ConnectError)) return false;
  const answered = error.metadata.get('error-code');
  return answered === null ? lost.includes(error.code) : answered === 'temporarily_unavailable';
}
