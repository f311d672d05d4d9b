// What a trace and the access line say of one request, over a real socket.
import { Failure } from '@course-exchange/runtime/process/errors';
import { startTelemetry } from '@course-exchange/runtime/process/telemetry';
import {
  type Attributes,
  INVALID_SPAN_CONTEXT,
  type Link,
  propagation,
  type Span,
  type SpanOptions,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { afterAll, expect, test } from 'vitest';
import { serveGateway } from '../../testing/served-gateway.ts';

interface SeenSpan {
  readonly name: string;
  readonly attributes: Attributes;
  readonly links: readonly Link[];
  readonly statuses: { code: SpanStatusCode; message?: string }[];
}

const traceId = 'c0ffee00c0ffee00c0ffee00c0ffee00';
const spans: SeenSpan[] = [];

function recordingSpan(name: string, { links = [], attributes = {} }: SpanOptions = {}): Span {
  const seen: SeenSpan = { name, attributes: { ...attributes }, links, statuses: [] };
  spans.push(seen);
  const span = {
    isRecording: () => true,
    spanContext: () => ({ ...INVALID_SPAN_CONTEXT, traceId, spanId: '00f067aa0ba902b7', traceFlags: 1 }),
    setAttribute: (key: string, value: string) => Object.assign(seen.attributes, { [key]: value }) && span,
    addEvent: () => span,
    addLinks: (more: Link[]) => Object.assign(seen, { links: [...seen.links, ...more] }) && span,
    updateName: (renamed: string) => Object.assign(seen, { name: renamed }) && span,
    setAttributes: (more: Attributes) => Object.assign(seen.attributes, more) && span,
    setStatus: (status: { code: SpanStatusCode }) => seen.statuses.push(status) && span,
    end: () => {},
  };
  return span as unknown as Span;
}

await startTelemetry('gateway', {
  OTEL_EXPORTER_OTLP_ENDPOINT: undefined,
  OTEL_METRICS_EXPORTER: 'none',
  OTEL_TRACES_SAMPLER_ARG: 1,
});
trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan: recordingSpan }) as never });
const away = () => Promise.reject(new Failure('temporarily_unavailable'));
const refused = () => Promise.reject(new Failure('invalid_grant', 'a reason that no partner gets'));
const gateway = await serveGateway({ answers: { getUserInfo: away, exchangeToken: refused } });
afterAll(async () => {
  await gateway.close();
  trace.disable();
  propagation.disable();
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
  await expect
    .poll(() => gateway.accessLine('request-0001'))
    .toMatchObject({ status: 200, traceId, spanId: '00f067aa0ba902b7' });
  await expect.poll(() => gateway.accessLine('request-0002')).toMatchObject({ status: 404 });
  expect(gateway.accessLine('request-0002')).not.toHaveProperty('traceId');
});

test('the span names its request; an answer of 500 and more is an error without text (R27)', async () => {
  expect(await ask('/userinfo', 'request-0003')).toBe(503);
  expect(spanOf('request-0003')).toMatchObject({
    name: 'GET /userinfo',
    attributes: { 'http.response.status_code': 503, 'error.type': 'temporarily_unavailable' },
    statuses: [{ code: SpanStatusCode.ERROR }],
  });
  for (const status of spanOf('request-0003')?.statuses ?? []) expect(status).not.toHaveProperty('message');
  await ask('/api/events', 'request-0004');
  expect(spanOf('request-0004')).toMatchObject({ statuses: [] });
});

test('the span of a token request has its grant type, and no error for a refusal', async () => {
  const attributes = {
    'http.route': '/token',
    'http.request.method': 'POST',
    'http.response.status_code': 400,
    'error.type': 'invalid_grant',
  };
  for (const [grant_type, name] of Object.entries({ refresh_token: 'refresh_token', 'made-up': 'other' })) {
    const id = `request-of-${grant_type}`;
    await fetch(`${gateway.origin}/token`, {
      method: 'POST',
      headers: { 'x-request-id': id, authorization: 'Basic bm9ib2R5Om5vdGhpbmc=' },
      body: new URLSearchParams({ grant_type, client_id: 'nobody' }),
    });
    expect(spanOf(id)).toMatchObject({ name: `POST /token ${name}`, attributes, statuses: [] });
    // Named, and not authenticated (R32.3).
    expect(spanOf(id)?.attributes).not.toHaveProperty('course_exchange.client_id');
  }
});

test('a caller’s trace is linked, without what else it says, and not followed [R32.1]', async () => {
  const sent = { traceId: 'feed0000feed0000feed0000feed0000', spanId: 'feed0000feed0000', traceFlags: 0 };
  const headers = {
    traceparent: `00-${sent.traceId}-${sent.spanId}-00`,
    tracestate: 'theirs=ann',
    'x-request-id': 'request-0005',
  };
  await fetch(`${gateway.origin}/api/events`, { headers });
  expect(spanOf('request-0005')?.links).toEqual([{ context: { ...sent, isRemote: true } }]);
  expect(spanOf('request-0004')?.links).toEqual([]);
});
