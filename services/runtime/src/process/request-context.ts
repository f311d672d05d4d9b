// The state of a request that travels through every process, in the OpenTelemetry context.
import { type Context, context, createContextKey, ROOT_CONTEXT } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { Overloaded } from './errors.ts';

const callKey = createContextKey('call');

interface Call {
  /** '' outside a request. */
  readonly requestId: string;
  /** Milliseconds since the epoch; infinite outside a request. */
  readonly deadline: number;
  /** '' when unknown. Personal. */
  readonly clientAddress: string;
  readonly subject: CallSubject;
}

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

const outside: Call = { requestId: '', deadline: Infinity, clientAddress: '', subject: {} };

export function currentCall(active: Context = context.active()): Call {
  return (active.getValue(callKey) as Call | undefined) ?? outside;
}

/** Empty fields change nothing. */
export function nameSubject({ user, client }: CallSubject, active: Context = context.active()): void {
  const { subject } = currentCall(active);
  if (subject === outside.subject) return;
  if (user) subject.user = user;
  if (client) subject.client = client;
}

/** Milliseconds until the deadline; infinite outside a request. */
export function timeLeft(): number {
  return currentCall().deadline - Date.now();
}

/** Throws `Overloaded` after the caller's deadline (R14.7). */
export function requireTime(): void {
  if (timeLeft() <= 0) throw new Overloaded('deadline');
}

const wellFormed = /^[A-Za-z0-9._-]{8,64}$/;

/** 8–64 characters of A–Z a–z 0–9 . _ - (R25.2). */
export function isWellFormedRequestId(candidate: string | undefined): candidate is string {
  return candidate !== undefined && wellFormed.test(candidate);
}
