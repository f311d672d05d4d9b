// The server span of a request: name, attributes and linked trace.
import type { IncomingMessage } from 'node:http';
import { logText } from '@course-exchange/runtime/process/logger';
import type { SpanAttributes } from '@course-exchange/runtime/process/span-attributes';
import { type Link, propagation, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { type Answer, bytesOf, type Route } from './route.ts';

export function spanOf(method: string, { path }: Route) {
  const attributes = { 'http.route': logText(path), 'http.request.method': logText(method) };
  return { name: `${method} ${path}`, attributes };
}

/** Linked, not followed (R32.1). */
export function callersTrace({ headers }: IncomingMessage): Link[] {
  const sent = trace.getSpanContext(propagation.extract(ROOT_CONTEXT, headers));
  if (sent === undefined) return [];
  const { traceId, spanId, traceFlags } = sent;
  return [{ context: { traceId, spanId, traceFlags, isRemote: true } }];
}

/** `client`: authenticated by a service. */
export function answerAttributes(
  requestId: string,
  { status, code, body }: Answer,
  client: string | undefined,
): SpanAttributes {
  return {
    'course_exchange.request_id': logText(requestId),
    'http.response.status_code': status,
    'http.response.body.size': bytesOf(body),
    ...(code === undefined ? {} : { 'error.type': logText(code) }),
    ...(client === undefined ? {} : { 'course_exchange.client_id': logText(client) }),
  };
}
