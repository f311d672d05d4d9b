// What belongs to one request and travels with it through every process: its id, its deadline, its trace.
// Kept in the OpenTelemetry context, so that there is one carrier and it is immutable.
import { type Context, context, createContextKey, isSpanContextValid, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';

const requestIdKey = createContextKey('request id');
const deadlineKey = createContextKey('deadline');

/** Must run once per process before the first request; `startTelemetry` does it. */
export function carryContextAcrossAwaits(): void {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
}

/** `parent` with the request's id and its deadline (milliseconds since the epoch). */
export function withCall(parent: Context, requestId: string, deadline: number): Context {
  return parent.setValue(requestIdKey, requestId).setValue(deadlineKey, deadline);
}

export function requestIdOf(active: Context = context.active()): string | undefined {
  return active.getValue(requestIdKey) as string | undefined;
}

/** Milliseconds since the epoch; undefined outside a request. */
export function deadlineOf(active: Context = context.active()): number | undefined {
  return active.getValue(deadlineKey) as number | undefined;
}

export function traceIdOf(active: Context): string | undefined {
  const span = trace.getSpanContext(active);
  return span && isSpanContextValid(span) ? span.traceId : undefined;
}

const wellFormed = /^[A-Za-z0-9._-]{8,64}$/;

/** A caller's request id is kept when it is 8–64 characters of A–Z a–z 0–9 . _ - (R25). */
export function isWellFormedRequestId(candidate: string | undefined): candidate is string {
  return candidate !== undefined && wellFormed.test(candidate);
}
