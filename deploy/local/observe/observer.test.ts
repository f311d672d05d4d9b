// What the page of `start --observe` is told: spans and log lines of one request together, bounded; metrics as PromQL has them.
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { StackPlan } from '../plan.ts';
import { serviceComponents } from '../services.ts';
import { followFile, readLogLine } from './log-lines.ts';
import { readSamples, tiles } from './metrics.ts';
import { readSpans, type Span } from './otlp.ts';
import { openRequestStore } from './request-store.ts';

const traceId = 'c0ffee00c0ffee00c0ffee00c0ffee00';

function span(overrides: Partial<Span> = {}): Span {
  return {
    ...{ service: 'gateway', name: 'GET /api/events', kind: 'server', traceId, spanId: '00000000000000aa' },
    ...{ parentSpanId: '', start: 1_000, end: 1_020, failed: false, events: [] },
    attributes: { 'http.route': '/api/events', 'http.response.status_code': '401' },
    ...overrides,
  };
}

function line(fields: Readonly<Record<string, unknown>>) {
  const found = readLogLine(JSON.stringify({ time: '1970-01-01T00:00:01.020Z', ...fields }));
  if (!found) throw new Error('This is no log line.');
  return found;
}

test('an export of OTLP over JSON becomes spans; what is none is refused', () => {
  const sent = {
    ...{ traceId, spanId: '00000000000000aa', name: 'x', kind: 3, status: { code: 2 } },
    ...{ startTimeUnixNano: '1795374613000250000', endTimeUnixNano: '1795374613001500000' },
    attributes: [{ key: 'list', value: { arrayValue: { values: [{ stringValue: 'a' }] } } }],
  };
  const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'identity' } }] };
  const exported = (span: object) =>
    readSpans(JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ spans: [span] }] }] }));
  expect(exported(sent)).toMatchObject([
    {
      ...{ service: 'identity', name: 'x', kind: 'client', failed: true, parentSpanId: '' },
      start: 1795374613000.25,
      attributes: { list: '{"values":[{"stringValue":"a"}]}' },
    },
  ]);
  for (const body of ['', '{}']) expect(() => readSpans(body)).toThrow();
  expect(() => exported({ name: 'x' })).toThrow();
});

test('a request is told by the gateway’s line, and by its first span where there is none', () => {
  const store = openRequestStore();
  store.addSpan(span());
  expect(store.summary(traceId)).toMatchObject({ name: 'GET /api/events', status: '401', ms: 20, code: '' });
  const common = { service: 'gateway', traceId, requestId: 'request-1' };
  store.addLine(line({ ...common, message: 'token refused', reason: 'expired' }));
  const answer = {
    method: 'GET',
    route: '/api/events',
    status: 401,
    code: 'invalid_token',
    durationMs: 20.5,
  };
  store.addLine(line({ ...common, message: 'request', ...answer }));
  expect(store.summary(traceId)).toMatchObject({
    ...{ requestId: 'request-1', code: 'invalid_token', reason: 'expired', ms: 20.5, background: false },
  });
  expect(store.detail(traceId)).toMatchObject({ trace: [{ name: 'GET /api/events' }], lines: [{}, {}] });
});

test('a request that was refused before its trace began is listed by its request id', () => {
  const store = openRequestStore();
  const answer = { service: 'gateway', message: 'request', status: 503, durationMs: 1 };
  store.addLine(line({ ...answer, requestId: 'request-2' }));
  expect(store.summary('request-2')).toMatchObject({ status: '503', spans: 0, background: false });
});

test('it keeps so many and no more: a service’s own work goes first, then the oldest request', () => {
  const store = openRequestStore(() => {}, { requests: 4, spans: 2, lines: 1 });
  const own = span({ traceId: 'b'.repeat(32), name: 'postgres audit head', attributes: {} });
  store.addSpan(own);
  for (const id of '12345') store.addSpan(span({ traceId: id.repeat(32) }));
  const kept = () => store.summaries().map(({ id }) => id[0]);
  expect(kept()).toEqual(['2', '3', '4', '5']);
  for (const spanId of ['1', '2', '3']) store.addSpan(span({ traceId: '5'.repeat(32), spanId }));
  expect(store.detail('5'.repeat(32))?.trace).toHaveLength(2);
});

test('a log is read as it grows, line by line, whatever the parts in which it is written', () => {
  const folder = mkdtempSync(join(tmpdir(), 'course-exchange-observe-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'gateway.log');
  const taken: string[] = [];
  const read = followFile(file, (text) => taken.push(text));
  read();
  for (const part of ['one\ntw', 'o ü', '\n\nthree']) {
    appendFileSync(file, part);
    read();
  }
  expect(taken).toEqual(['one', 'two ü']);
  expect(readLogLine('(node:1) Warning: no line of ours')).toBeUndefined();
});

const tile = (id: string) => tiles.find((one) => one.id === id)?.read ?? (() => ({}));
const at = (time: number, text: string) => ({ time, samples: readSamples('gateway', text) });

test('rates are those between two readings, also where a process began anew', () => {
  const counted = (count: number) =>
    `course_exchange_client_requests_total{client_id="a\\"b",http_route="/token",error_type="invalid_grant"} ${count}\n` +
    'course_exchange_client_requests_total{client_id="c",http_route="/token",error_type=""} 900';
  expect(tile('refusals')(at(10_000, counted(30)), at(0, counted(10)))).toEqual({ invalid_grant: 2 });
  expect(tile('refusals')(at(10_000, counted(5)), at(0, counted(10)))).toEqual({ invalid_grant: 0.5 });
});

test('quantiles lie within their bucket, as in histogram_quantile, and are not told where nothing was counted', () => {
  const buckets = (...counts: readonly number[]) =>
    ['0.1', '0.2', '+Inf']
      .map((le, at) => `http_server_request_duration_seconds_bucket{le="${le}"} ${counts[at]}\n`)
      .join('');
  const before = at(0, buckets(10, 10, 10));
  const grown = tile('duration')(at(1_000, buckets(10, 20, 20)), before);
  expect(grown).toEqual({ p99: expect.closeTo(0.199) });
  expect(tile('duration')(at(1_000, buckets(10, 10, 20)), before)).toEqual({ p99: 0.2 });
  expect(tile('duration')(at(1_000, buckets(10, 10, 10)), before)).toEqual({});
});

test('the services export traces to the page alone, and none without it', () => {
  const plan = {
    run: { logs: '/', sockets: '/', data: '/' },
    ports: {},
    secrets: {},
    issuer: 'http://127.0.0.1:1',
  };
  const told = (observeUrl: string | undefined) => {
    const { identity } = serviceComponents({ ...plan, observeUrl } as unknown as StackPlan);
    const { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SDK_DISABLED } = identity.program.environment ?? {};
    return [OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SDK_DISABLED];
  };
  expect(told(undefined)).toEqual([undefined, undefined]);
  expect(told('http://127.0.0.1:3')).toEqual(['http://127.0.0.1:3', 'false']);
});
