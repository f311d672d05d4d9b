// How a failure crosses gRPC: its code travels in the trailer `error-code`, beside the status that the
// table given by the product assigns to it. Nothing else of an error crosses.
import { Metadata, type ServiceError, type StatusObject, status } from '@grpc/grpc-js';
import { DetailedFailure, Failure } from '../process/errors.ts';
import type { CallSubject } from '../process/request-context.ts';

/** gRPC status of each public error code. */
export type ErrorStatuses = Readonly<Record<string, number>>;

const trailer = 'error-code';
/** Percent-encoded UTF-8; on private ports only. */
const detailTrailer = 'error-detail';
/** RFC 3339; on private ports only. */
const possibleAtTrailer = 'error-possible-at';

/** A keyed hash. */
const userTrailer = 'keyed-user';
const clientTrailer = 'proven-client';

/** What every answer says besides its message. */
export function trailersOf({ user, client }: CallSubject): Metadata {
  const metadata = new Metadata();
  if (user !== undefined) metadata.set(userTrailer, user);
  if (client !== undefined) metadata.set(clientTrailer, client);
  return metadata;
}

export function subjectIn(trailers: Metadata): CallSubject {
  return {
    user: trailers.get(userTrailer)[0]?.toString(),
    client: trailers.get(clientTrailer)[0]?.toString(),
  };
}

/** What a caller is told of `error`: itself where its code is in the table, else `server_error` without its text. */
export function toldFailure(error: unknown, errorStatuses: ErrorStatuses): Failure {
  if (error instanceof Failure && errorStatuses[error.code] !== undefined) return error;
  return new Failure('server_error');
}

/** The status that answers `error`, with `metadata`. */
export function toStatus(
  error: unknown,
  { errorStatuses, sendDetails }: { readonly errorStatuses: ErrorStatuses; readonly sendDetails?: boolean },
  metadata = new Metadata(),
): Partial<StatusObject> {
  const told = toldFailure(error, errorStatuses);
  const { code } = told;
  metadata.set(trailer, code);
  if (sendDetails && told instanceof DetailedFailure) addDetails(metadata, told);
  // The service has answered: a retry by the client's policy would only repeat the same answer.
  metadata.set('grpc-retry-pushback-ms', '-1');
  return { code: statusOf(told, errorStatuses), details: code, metadata };
}

function statusOf({ code }: Failure, errorStatuses: ErrorStatuses): status {
  return errorStatuses[code] ?? status.INTERNAL;
}

/** `UNAVAILABLE`, say. */
export function statusName(told: Failure, errorStatuses: ErrorStatuses): string {
  return status[statusOf(told, errorStatuses)];
}

function addDetails(metadata: Metadata, { detail, possibleAt }: DetailedFailure): void {
  metadata.set(detailTrailer, encodeURIComponent(detail.toWellFormed()));
  if (possibleAt !== undefined) metadata.set(possibleAtTrailer, new Date(possibleAt).toISOString());
}

/** A call that ended without an answer, as grpc-js would tell it. */
export function unansweredCall(code: status, details: string): ServiceError {
  return Object.assign(new Error(details), { code, details, metadata: new Metadata() });
}

const unanswered: readonly number[] = [
  status.UNAVAILABLE,
  status.DEADLINE_EXCEEDED,
  status.CANCELLED,
  status.RESOURCE_EXHAUSTED,
];

/**
 * The failure that a status means; a call that was not answered is `temporarily_unavailable` (R14),
 * one that never can be is `server_error`.
 */
export function fromStatus(error: ServiceError): Failure {
  const [code] = error.metadata?.get(trailer) ?? [];
  if (typeof code === 'string') return new Failure(code);
  const meant =
    unanswered.includes(error.code) && !isTooLarge(error) ? 'temporarily_unavailable' : 'server_error';
  return new Failure(meant, connectionProblem(error), { cause: error });
}

/**
 * A message beyond a limit of ours is refused however often it is sent (R14). grpc-js tells it by its text alone: a
 * peer that has too much to do gives the same status.
 */
function isTooLarge({ code, details }: ServiceError): boolean {
  return code === status.RESOURCE_EXHAUSTED && details.includes('larger than');
}

/** In the words of grpc-js about the connection: addresses and certificates of ours, nothing of the request. */
function connectionProblem({ details }: ServiceError): string {
  const problem = details.replace(/\. Resolution note: .*$/s, '');
  return problem.replace(/^.*Last error: (?:Error(?: \[\w+\])?: )?/s, '');
}
