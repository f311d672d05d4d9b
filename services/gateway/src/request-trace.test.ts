// What a trace and the access line say of one request, over a real socket.
import { Failure } from '@course-exchange/runtime/failure';
import { type Attributes, INVALID_SPAN_CONTEXT, type Span, SpanStatusCode, trace } from '@opentelemetry/api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ServedGateway, serveGateway } from '../testing/served-gateway.ts';

interface SeenSpan {
  readonly name: string;
  readonly attributes: Attributes;
  readonly statuses: { code: SpanStatusCode; message?: string }[];
}

const traceId = 'c0ffee00c0ffee00c0ffee00c0ffee00';
const spans: SeenSpan[] = [];

function recordingSpan(name: string): Span {
  const seen: SeenSpan = { name, attributes: {}, statuses: [] };
  spans.push(seen);
  const span = {
    isRecording: () => true,
    spanContext: () => ({ ...INVALID_SPAN_CONTEXT, traceId, spanId: '00f067aa0ba902b7', traceFlags: 1 }),
    setAttribute: (key: string, value: string) => Object.assign(seen.attributes, { [key]: value }) && span,
    setAttributes: (more: Attributes) => Object.assign(seen.attributes, more) && span,
    setStatus: (status: { code: SpanStatusCode }) => seen.statuses.push(status) && span,
    end: () => {},
  };
  return span as unknown as Span;
}

let gateway: ServedGateway;
beforeAll(async () => {
  trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan: recordingSpan }) as never });
  const away = () => Promise.reject(new Failure('temporarily_unavailable'));
  gateway = await serveGateway({ answers: { getUserInfo: away } });
});
afterAll(async () => {
  await gateway.close();
  trace.disable();
});

async function ask(path: string, id: string): Promise<number> {
  const headers = { authorization: 'Bearer aaa.bbb.ccc', 'x-request-id': id };
  return (await fetch(`${gateway.origin}${path}`, { headers })).status;
}

const spanOf = (id: string) =>
  spans.find(
    ({ attributes }) =>
      attributes['course_exchange.request_id'] === id && attributes['http.response.status_code'],
  );

test('the access line of a route carries the trace id of its span; an unknown route has none', async () => {
  await ask('/api/events', 'request-0001');
  await ask('/nowhere', 'request-0002');
  const accessLine = (id: string) =>
    gateway.lines
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .find(({ message, requestId }) => message === 'request' && requestId === id);
  await expect.poll(() => accessLine('request-0001')).toMatchObject({ status: 200, traceId });
  await expect.poll(() => accessLine('request-0002')).toMatchObject({ status: 404 });
  expect(accessLine('request-0002')).not.toHaveProperty('traceId');
});

test('the span names its request; an answer of 500 and more is an error without text (R27)', async () => {
  expect(await ask('/userinfo', 'request-0003')).toBe(503);
  expect(spanOf('request-0003')).toMatchObject({
    name: 'GET /userinfo',
    attributes: { 'http.response.status_code': 503, 'error.type': '503' },
    statuses: [{ code: SpanStatusCode.ERROR }],
  });
  expect(spanOf('request-0003')?.statuses[0]).not.toHaveProperty('message');
  await ask('/api/events', 'request-0004');
  expect(spanOf('request-0004')).toMatchObject({ statuses: [] });
});
