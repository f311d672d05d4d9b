// What belongs to one request and travels with it through every process: its id, its deadline, its trace, and whence it
// comes.
// Kept in the OpenTelemetry context, so that there is one carrier and it is immutable.
import {
  type Context,
  context,
  createContextKey,
  isSpanContextValid,
  ROOT_CONTEXT,
  type SpanContext,
  trace,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { Overloaded } from './errors.ts';

const callKey = createContextKey('call');

/** A context as a list: OpenTelemetry's own copies all of its values for each that is set, and makes three closures. */
class LinkedContext implements Context {
  readonly #parent: Context;
  readonly #key: symbol;
  readonly #value: unknown;

  constructor(parent: Context, key: symbol, value: unknown) {
    this.#parent = parent;
    this.#key = key;
    this.#value = value;
  }

  getValue(key: symbol): unknown {
    return key === this.#key ? this.#value : this.#parent.getValue(key);
  }

  setValue(key: symbol, value: unknown): Context {
    return new LinkedContext(this, key, value);
  }

  deleteValue(key: symbol): Context {
    return new LinkedContext(this, key, undefined);
  }
}

type Call = {
  readonly requestId: string;
  readonly deadline: number;
  readonly clientAddress: string;
  readonly subject: CallSubject;
};

/** Whom a request turns out to be about, in this process or in one that it asks. */
export interface CallSubject {
  /** A keyed hash (R27.3). */
  user?: string | undefined;
  /** Proven, by its secret or by a token that we signed. */
  client?: string | undefined;
}

/** Must run once per process before the first request; `startTelemetry` does it. */
export function carryContextAcrossAwaits(): void {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
}

/**
 * `parent` with the request's id, its deadline (milliseconds since the epoch), and the address that it came from, as far as
 * proxies are trusted; '' where that is not known. Personal.
 */
export function withCall(
  parent: Context,
  requestId: string,
  deadline: number,
  clientAddress = '',
  subject: CallSubject = {},
): Context {
  const call: Call = { requestId, deadline, clientAddress, subject };
  return new LinkedContext(parent, callKey, call);
}

/** For what is about no request: a connection tells of itself in the context of whoever opened or used it last. */
export function outsideRequests<T>(work: () => T): T {
  return context.with(ROOT_CONTEXT, work);
}

function callOf(active: Context): Call | undefined {
  return active.getValue(callKey) as Call | undefined;
}

export function requestIdOf(active: Context = context.active()): string | undefined {
  return callOf(active)?.requestId;
}

export function subjectOf(active: Context): CallSubject | undefined {
  return callOf(active)?.subject;
}

/** Says whom the request is about, for its line at the edge; what is empty stays as it is known. */
export function nameSubject({ user, client }: CallSubject, active: Context = context.active()): void {
  const subject = subjectOf(active);
  if (subject === undefined) return;
  if (user) subject.user = user;
  if (client) subject.client = client;
}

/** Milliseconds since the epoch; undefined outside a request. */
export function deadlineOf(active: Context = context.active()): number | undefined {
  return callOf(active)?.deadline;
}

/** Milliseconds until the deadline; endless outside a request. */
export function timeLeft(): number {
  return (deadlineOf() ?? Number.POSITIVE_INFINITY) - Date.now();
}

/** Throws where the caller's time is over: nobody waits for the work any more (R14). */
export function requireTime(): void {
  if (timeLeft() <= 0) throw new Overloaded('deadline');
}

/** '' outside a request, and where it is not known. Personal. */
export function clientAddressOf(active: Context = context.active()): string {
  return callOf(active)?.clientAddress ?? '';
}

/** The span that is open, and its trace. */
export function spanOf(active: Context): Partial<Pick<SpanContext, 'traceId' | 'spanId'>> {
  const span = trace.getSpanContext(active);
  return span && isSpanContextValid(span) ? { traceId: span.traceId, spanId: span.spanId } : {};
}

const wellFormed = /^[A-Za-z0-9._-]{8,64}$/;

/** A caller's request id is kept when it is 8–64 characters of A–Z a–z 0–9 . _ - (R25). */
export function isWellFormedRequestId(candidate: string | undefined): candidate is string {
  return candidate !== undefined && wellFormed.test(candidate);
}
