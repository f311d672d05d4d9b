// How a failure crosses gRPC: its code in the trailer `error-code`, with the status from the product's table, and
// nothing else.
import { Metadata, type ServiceError, type StatusObject, status } from '@grpc/grpc-js';
import { DetailedFailure, Failure } from '../process/errors.ts';

export type ErrorStatuses = Readonly<Record<string, keyof typeof status>>;

const trailer = 'error-code';
/** Percent-encoded UTF-8; on private ports only. */
const detailTrailer = 'error-detail';
/** RFC 3339; on private ports only. */
const possibleAtTrailer = 'error-possible-at';

/** An unknown error becomes `server_error` without its text. */
export function sentFailure(error: unknown, errorStatuses: ErrorStatuses): Failure {
  if (error instanceof Failure && errorStatuses[error.code] !== undefined) return error;
  return new Failure('server_error');
}

export function toStatus(
  error: unknown,
  { errorStatuses, sendDetails }: { readonly errorStatuses: ErrorStatuses; readonly sendDetails?: boolean },
): Partial<StatusObject> {
  const metadata = new Metadata();
  const sent = sentFailure(error, errorStatuses);
  const { code } = sent;
  metadata.set(trailer, code);
  if (sendDetails && sent instanceof DetailedFailure) addDetails(metadata, sent);
  // A retry by the client's policy would repeat the answer.
  metadata.set('grpc-retry-pushback-ms', '-1');
  return { code: status[statusName(sent, errorStatuses)], details: code, metadata };
}

export function statusName({ code }: Failure, errorStatuses: ErrorStatuses): keyof typeof status {
  return errorStatuses[code] ?? 'INTERNAL';
}

function addDetails(metadata: Metadata, { detail, possibleAt }: DetailedFailure): void {
  metadata.set(detailTrailer, encodeURIComponent(detail.toWellFormed()));
  if (possibleAt !== undefined) metadata.set(possibleAtTrailer, new Date(possibleAt).toISOString());
}

/** As grpc-js reports a call without an answer. */
export function unansweredCall(code: status, details: string): ServiceError {
  return Object.assign(new Error(details), { code, details, metadata: new Metadata() });
}

const unanswered: readonly number[] = [
  status.UNAVAILABLE,
  status.DEADLINE_EXCEEDED,
  status.CANCELLED,
  status.RESOURCE_EXHAUSTED,
];

type CallError = Error & Partial<StatusObject>;

/** Without a code: `temporarily_unavailable` if unanswered (R14.1), else `server_error` (R14.6, R14.8). */
export function fromStatus(error: CallError): Failure {
  const [code] = error.metadata?.get(trailer) ?? [];
  if (typeof code === 'string') return new Failure(code);
  const isUnanswered = error.code !== undefined && unanswered.includes(error.code) && !isTooLarge(error);
  const meant = isUnanswered ? 'temporarily_unavailable' : 'server_error';
  return new Failure(meant, connectionProblem(error), { cause: error });
}

/** Refused every time (R14.8). Only grpc-js' text tells it from an overloaded peer. */
function isTooLarge({ code, details = '' }: CallError): boolean {
  return code === status.RESOURCE_EXHAUSTED && details.includes('larger than');
}

/** grpc-js' words: our addresses and certificates, nothing of the request. */
function connectionProblem({ details = '' }: CallError): string {
  const problem = details.replace(/\. Resolution note: .*$/s, '');
  return problem.replace(/^.*Last error: (?:Error(?: \[\w+\])?: )?/s, '');
}
