// How a failure crosses gRPC: its code travels in the trailer `error-code`, beside the status that the
// table given by the product assigns to it. Nothing else of an error crosses.
import { Metadata, type ServiceError, type StatusObject, status } from '@grpc/grpc-js';
import { DetailedFailure, Failure } from './failure.ts';

/** gRPC status of each public error code. */
export type ErrorStatuses = Readonly<Record<string, number>>;

const trailer = 'error-code';
/** Percent-encoded UTF-8; on the operator's and the platform's surfaces only. */
const detailTrailer = 'error-detail';
/** RFC 3339; on the same surfaces. */
const possibleAtTrailer = 'error-possible-at';

/** The status that answers `error`; an unknown error becomes `server_error` without its text. */
export function toStatus(
  error: unknown,
  statuses: ErrorStatuses,
  sendDetails: boolean,
): Partial<StatusObject> {
  const known = error instanceof Failure && statuses[error.code] !== undefined;
  const code = known ? error.code : 'server_error';
  const metadata = new Metadata();
  metadata.set(trailer, code);
  if (sendDetails && known && error instanceof DetailedFailure) addDetails(metadata, error);
  // The service has answered: a retry by the client's policy would only repeat the same answer.
  metadata.set('grpc-retry-pushback-ms', '-1');
  return { code: statuses[code] ?? status.INTERNAL, details: code, metadata };
}

function addDetails(metadata: Metadata, { detail, possibleAt }: DetailedFailure): void {
  metadata.set(detailTrailer, encodeURIComponent(detail.toWellFormed()));
  if (possibleAt !== undefined) metadata.set(possibleAtTrailer, new Date(possibleAt).toISOString());
}

const unanswered: readonly number[] = [
  status.UNAVAILABLE,
  status.DEADLINE_EXCEEDED,
  status.CANCELLED,
  status.RESOURCE_EXHAUSTED,
];

/** The failure that a status means; a call that was not answered is `temporarily_unavailable` (R14). */
export function fromStatus(error: ServiceError): Failure {
  const [code] = error.metadata?.get(trailer) ?? [];
  if (typeof code === 'string') return new Failure(code);
  return new Failure(
    unanswered.includes(error.code) ? 'temporarily_unavailable' : 'server_error',
    undefined,
    {
      cause: error,
    },
  );
}

/**
 * Why a call was not answered, in the words of grpc-js about the connection: addresses and certificates of ours, nothing
 * of the request. Undefined where a service did answer.
 */
export function connectionProblem({ cause }: Failure): string | undefined {
  if (!(cause instanceof Error) || !('details' in cause)) return undefined;
  const details = String(cause.details).replace(/\. Resolution note: .*$/s, '');
  return details.replace(/^.*Last error: (?:Error(?: \[\w+\])?: )?/s, '');
}
