// An incoming gRPC call as a handler sees it.
import type { PeerCertificate } from 'node:tls';
import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';
import type { Call } from '@course-exchange/proto/rpc/v1';
import { isTime } from '@course-exchange/rules/time';
import type { ServerReadableStream, ServerUnaryCall, ServerWritableStream } from '@grpc/grpc-js';
import { DetailedFailure } from '../process/errors.ts';
import { type CallSubject, currentCall } from '../process/request-context.ts';

export type AnsweredCall = ServerUnaryCall<unknown, unknown> | ServerReadableStream<unknown, unknown>;
export type AnyCall = AnsweredCall | ServerWritableStream<unknown, unknown>;

/** A unary call or one that a stream carries. */
export interface IncomingCall extends CallSubject {
  /** Milliseconds since the epoch; Infinity if the caller set none. */
  readonly deadline: number;
  /** The token of the `authorization` metadata, as the gateway read it from the request. Secret. */
  readonly bearer: string | undefined;
  /** First value of one metadata entry. */
  readonly metadata: (name: string) => string | undefined;
  /** The caller's verified certificate; undefined without mTLS. */
  readonly certificate: () => PeerCertificate | undefined;
  /** Aborts when the call is cancelled or has expired, and, if it is made later, when it has ended. */
  readonly signal: () => AbortSignal;
}

export function incomingCall(call: AnyCall): IncomingCall {
  const events: NodeJS.EventEmitter = call;
  const metadata = (name: string) => call.metadata.get(name)[0]?.toString();
  return {
    deadline: Number(call.getDeadline()),
    bearer: bearerOf(metadata('authorization')),
    metadata,
    certificate: () => call.getAuthContext().sslPeerCertificate,
    signal: () => {
      const abort = new AbortController();
      if (call.cancelled) abort.abort();
      else events.once('cancelled', () => abort.abort());
      return abort.signal;
    },
  };
}

function bearerOf(authorization: string | undefined): string | undefined {
  return authorization?.startsWith('Bearer ') ? authorization.slice('Bearer '.length) : undefined;
}

export function carriedCall(
  { metadata, timeoutMs }: Call,
  certificate: PeerCertificate | undefined,
  over: Promise<void>,
): IncomingCall {
  return {
    deadline: Date.now() + timeoutMs,
    bearer: bearerOf(metadata.authorization),
    metadata: (name) => metadata[name],
    certificate: () => certificate,
    signal: () => {
      const abort = new AbortController();
      void over.then(() => abort.abort());
      return abort.signal;
    },
  };
}

/** A certificate may name several; the first one is the caller's. */
function commonName(names: string | string[] | undefined): string | undefined {
  return typeof names === 'string' ? names : names?.[0];
}

const usualPage = 100;
const largestPage = 1_000;

export function pageLimit(pageSize: number): number {
  return Math.min(pageSize || usualPage, largestPage);
}

/** Milliseconds since the epoch. Throws `invalid_argument` for what no Timestamp may be and Postgres may not take. */
export function readTime(time: Timestamp | undefined): number | undefined {
  const milliseconds = time && timestampMs(time);
  if (milliseconds === undefined || isTime(milliseconds)) return milliseconds;
  throw new DetailedFailure('invalid_argument', 'A time is not in the years 1 to 9999.');
}

export interface Caller {
  /** `cert:<name>` (authenticated) or `local:<name>` (claimed). */
  readonly actor: string;
  readonly requestId: string;
}

const nameForm = /^[A-Za-z0-9._@\\ -]{1,64}$/;

/** `cert:<name>`; undefined without a name that the audit log takes. */
export function certifiedActor(shown: PeerCertificate | undefined): string | undefined {
  const name = commonName(shown?.subject?.CN) ?? '';
  return nameForm.test(name) ? `cert:${name}` : undefined;
}

/**
 * `cert:<name>` of the certificate; without mTLS `local:<name>` of the metadata `x-operator`. Throws
 * `permission_denied` without a name.
 */
export function actorOf({ certificate, metadata }: IncomingCall): string {
  const shown = certificate();
  const certified = certifiedActor(shown);
  if (certified !== undefined) return certified;
  const given = metadata('x-operator');
  if (shown === undefined && given !== undefined && nameForm.test(given)) return `local:${given}`;
  throw new DetailedFailure('permission_denied', 'The call does not say who the operator is.');
}

export function callerOf(call: IncomingCall): Caller {
  return { actor: actorOf(call), requestId: currentCall().requestId };
}
