// One call that came in over gRPC, as a handler may see it.
import type { ServerReadableStream, ServerUnaryCall, ServerWritableStream } from '@grpc/grpc-js';

/** What a handler may know of its call besides the message. */
export interface IncomingCall {
  /** The `authorization` metadata, whole; undefined when absent. Secret. */
  readonly authorization: string | undefined;
  /** First value of one metadata entry; undefined when absent. */
  readonly metadata: (name: string) => string | undefined;
  /** The common name of the certificate that the caller showed and the server checked; undefined without mTLS. */
  readonly peerName: string | undefined;
  /** Aborts when the caller is gone or its deadline has passed. */
  readonly signal: AbortSignal;
}

/** Calls that one message answers. */
export type AnsweredCall = ServerUnaryCall<unknown, unknown> | ServerReadableStream<unknown, unknown>;
export type AnyCall = AnsweredCall | ServerWritableStream<unknown, unknown>;

/** Deadline of a call that brought none, in milliseconds. */
const defaultDeadlineMs = 5_000;

/** Milliseconds since the epoch. */
export function deadlineOfCall(call: AnyCall): number {
  const deadline = Number(call.getDeadline());
  return Number.isFinite(deadline) ? deadline : Date.now() + defaultDeadlineMs;
}

export function incomingCall(call: AnyCall): IncomingCall {
  let abort: AbortController | undefined;
  return {
    authorization: call.metadata.get('authorization')[0]?.toString(),
    metadata: (name) => call.metadata.get(name)[0]?.toString(),
    get peerName() {
      return commonName(call.getAuthContext().sslPeerCertificate?.subject?.CN);
    },
    // Made when asked for: a call also counts as cancelled when it has ended, and an abort costs 10 µs.
    get signal() {
      if (abort !== undefined) return abort.signal;
      const made = new AbortController();
      abort = made;
      if (call.cancelled) made.abort();
      else (call as NodeJS.EventEmitter).once('cancelled', () => made.abort());
      return made.signal;
    },
  };
}

/** A certificate may name several; the first one is the caller's. */
function commonName(names: string | string[] | undefined): string | undefined {
  return typeof names === 'string' ? names : names?.[0];
}
