// The trace of one request: what its span says of the answer, and where the access line finds it again.
import { withCall } from '@course-exchange/runtime/call-context';
import { type Context, context, ROOT_CONTEXT, SpanStatusCode, trace } from '@opentelemetry/api';
import type { FastifyRequest } from 'fastify';

/** The answer's own hooks run outside of the context that the route ran in. */
const contexts = new WeakMap<FastifyRequest, Context>();

/** Keeps the active context, with its span, until `request` is answered for. */
export function keepContext(request: FastifyRequest): void {
  contexts.set(request, context.active());
}

/** The context that the route of `request` ran in; where no route was reached, one with its id alone. */
export function contextOf(request: FastifyRequest): Context {
  return contexts.get(request) ?? withCall(ROOT_CONTEXT, request.id, 0);
}

/** Tells the active span how the request ended. An answer of 500 and more is its failure, without text (R27). */
export function traceAnswer(requestId: string, status: number): void {
  const span = trace.getActiveSpan();
  if (span === undefined || !span.isRecording()) return;
  span.setAttributes({ 'course_exchange.request_id': requestId, 'http.response.status_code': status });
  if (status >= 500)
    span.setAttribute('error.type', String(status)).setStatus({ code: SpanStatusCode.ERROR });
}
