// Spans of routes, RPCs and store operations, which are also measured.
import {
  type Context,
  context,
  INVALID_TRACEID,
  type Link,
  type Span,
  type SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { Failure, isFault } from './errors.ts';
import { describeError } from './logger.ts';
import { errorType } from './metrics.ts';
import { measured } from './runtime-metrics.ts';
import type { SpanAttributes } from './span-attributes.ts';

const tracer = trace.getTracer('course-exchange');

/**
 * A thrown error marks the span with its code or class, never with its message (R27). An unsampled parent is
 * propagated, so that the services behind follow (R32.2).
 */
export function inSpan<T>(
  name: string,
  kind: SpanKind,
  attributes: SpanAttributes,
  untimed: () => Promise<T>,
  within: Context = context.active(),
  links: () => Link[] = () => [],
): Promise<T> {
  const work = () => measured(kind, attributes, untimed);
  const parent = trace.getSpanContext(within);
  if (parent && (parent.traceFlags & TraceFlags.SAMPLED) === 0) return runIn(within, work);
  const span = tracer.startSpan(name, { kind }, within);
  // Nothing is exported.
  if (span.spanContext().traceId === INVALID_TRACEID) return runIn(within, work);
  const active = trace.setSpan(within, span);
  if (!span.isRecording()) return runIn(active, work);
  span.setAttributes(attributes).addLinks(links());
  return runIn(active, () => recorded(span, work));
}

function runIn<T>(active: Context, work: () => Promise<T>): Promise<T> {
  return active === context.active() ? work() : context.with(active, work);
}

async function recorded<T>(span: Span, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    describe(span, error);
    throw error;
  } finally {
    span.end();
  }
}

function recordedSpan(): Span | undefined {
  const span = trace.getActiveSpan();
  return span?.isRecording() ? span : undefined;
}

/** `make` is called only if the span is recorded. */
export function annotate(make: () => SpanAttributes): void {
  recordedSpan()?.setAttributes(make());
}

/** Records how long `wait` took, in milliseconds, even if it failed. */
export async function annotateWait<T>(name: keyof SpanAttributes, wait: () => Promise<T>): Promise<T> {
  const begun = performance.now();
  try {
    return await wait();
  } finally {
    annotate(() => ({ [name]: Math.round(performance.now() - begun) }));
  }
}

/** `name` has few values, none of them a caller's. */
export function renameSpan(name: string): void {
  recordedSpan()?.updateName(name);
}

/** For an error that is answered within the active span. */
export function recordError(error: unknown): void {
  const span = recordedSpan();
  if (span !== undefined) describe(span, error);
}

/** A pod's address in grpc-js' words. */
const address = /[^\s,=]*(?:(?:\d+\.){3}\d|:[\da-f]*:)[^\s,=]*/gi;

/** Errors with a reason on some span: the enclosing spans only fail. */
const reported = new WeakSet<Error>();

/** A refusal is no error of the span. */
function describe(span: Span, error: unknown): void {
  span.setAttribute('error.type', errorType(error));
  if (isFault(error)) span.setStatus({ code: SpanStatusCode.ERROR });
  if (!(error instanceof Error) || reported.has(error)) return;
  reported.add(error);
  const isFailure = error instanceof Failure;
  if (isFailure && error.message !== error.code)
    span.setAttribute('course_exchange.error.reason', error.message.replace(address, 'an address'));
  const thrown = isFailure ? error.cause : error;
  if (!(thrown instanceof Error)) return;
  const { error: type, errorCode, at } = describeError(thrown);
  const code = errorCode === undefined ? {} : { 'course_exchange.exception.code': errorCode };
  span.addEvent('exception', { 'exception.type': type, 'exception.stacktrace': at, ...code });
}
