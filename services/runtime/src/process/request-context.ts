// The state of a request that travels through every process, in the OpenTelemetry context.
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

type Call = {
  readonly requestId: string;
  readonly deadline: number;
  readonly clientAddress: string;
  readonly subject: CallSubject;
};

/** Known once this process or one behind it has found out. */
export interface CallSubject {
  /** A keyed hash (R27.3). */
  user?: string | undefined;
  /** Authenticated by its secret or by a token that we signed. */
  client?: string | undefined;
}

/** Once per process, before the first request; `startTelemetry` calls it. */
export function carryContextAcrossAwaits(): void {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
}

/** `deadline`: milliseconds since the epoch. `clientAddress`: '' when unknown. Personal. */
export function withCall(
  parent: Context,
  requestId: string,
  deadline: number,
  clientAddress = '',
  subject: CallSubject = {},
): Context {
  const call: Call = { requestId, deadline, clientAddress, subject };
  return parent.setValue(callKey, call);
}

/** A connection would report in the context of the request that opened it. */
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

/** Empty fields change nothing. */
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

/** Milliseconds until the deadline; infinite outside a request. */
export function timeLeft(): number {
  return (deadlineOf() ?? Number.POSITIVE_INFINITY) - Date.now();
}

/** Throws `Overloaded` after the caller's deadline (R14). */
export function requireTime(): void {
  if (timeLeft() <= 0) throw new Overloaded('deadline');
}

/** '' outside a request. Personal. */
export function clientAddressOf(active: Context = context.active()): string {
  return callOf(active)?.clientAddress ?? '';
}

export function spanOf(active: Context): Partial<Pick<SpanContext, 'traceId' | 'spanId'>> {
  const span = trace.getSpanContext(active);
  return span && isSpanContextValid(span) ? { traceId: span.traceId, spanId: span.spanId } : {};
}

const wellFormed = /^[A-Za-z0-9._-]{8,64}$/;

/** 8–64 characters of A–Z a–z 0–9 . _ - (R25). */
export function isWellFormedRequestId(candidate: string | undefined): candidate is string {
  return candidate !== undefined && wellFormed.test(candidate);
}
