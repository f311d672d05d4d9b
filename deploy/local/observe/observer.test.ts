// What the page of `start --observe` receives: spans and log lines of one request together, bounded; metrics as PromQL has them.
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { keyStep, readSamples, tiles } from './metrics.ts';
import { openRequestStore } from './request-store.ts';
import { followFile, readLogLine, readSpans, type Span } from './telemetry.ts';

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
    readSpans({ resourceSpans: [{ resource, scopeSpans: [{ spans: [span] }] }] });
  expect(exported(sent)).toMatchObject([
    {
      ...{ service: 'identity', name: 'x', kind: 'client', failed: true, parentSpanId: '' },
      start: 1795374613000.25,
      attributes: { list: '{"values":[{"stringValue":"a"}]}' },
    },
  ]);
  for (const body of ['', {}]) expect(() => readSpans(body)).toThrow();
  expect(() => exported({ name: 'x' })).toThrow();
});

const openStore = (most?: Parameters<typeof openRequestStore>[1]) => {
  let changes = 0;
  return openRequestStore(() => ++changes, most);
};
const id = (digit: string | number) => String(digit).repeat(32);
const answered = (traceId: string, fields: Readonly<Record<string, unknown>> = {}) => {
  const answer = { method: 'GET', route: '/api/events', status: 200, durationMs: 5 };
  return line({ service: 'gateway', message: 'request', traceId, ...answer, ...fields });
};

test('a request is described by the gateway’s line, and by its first span without one', () => {
  const store = openStore();
  store.addSpan(span());
  expect(store.detail(traceId)).toMatchObject({ name: 'GET /api/events', status: '401', ms: 20, code: '' });
  const common = { traceId, requestId: 'request-1' };
  store.addLine(line({ ...common, service: 'design-catalog', message: 'token refused', reason: 'expired' }));
  store.addLine(answered(traceId, { ...common, status: 401, code: 'invalid_token', durationMs: 20.5 }));
  expect(store.detail('request-1')).toMatchObject({
    ...{ id: traceId, code: 'invalid_token', reason: 'expired', ms: 20.5, background: false },
    ...{ trace: [{ name: 'GET /api/events' }], lines: [{}, {}] },
  });
});

test('a request that was refused before its trace began is listed by its request id', () => {
  const store = openStore();
  store.addLine(answered('', { requestId: 'request-2', route: 'unknown', status: 503 }));
  expect(store.detail('request-2')).toMatchObject({ name: 'GET (no route)', status: '503', spans: 0 });
});

test('a security event names client, user and network; an unauthenticated client is a claimed one', () => {
  const store = openStore();
  const parties = { client: 'acme', user: 'keyed-user', network: 'keyed-network' };
  const guess = { event: 'login.refused', reason: 'wrong_password', ...parties };
  store.addLine(line({ service: 'identity', message: 'security event', traceId, ...guess }));
  store.addLine(answered(traceId, { route: '/login' }));
  expect(store.detail(traceId)).toMatchObject({ ...guess, status: '200', claimed: true, kept: 'notable' });
  store.addLine(answered(id(1), { client: 'acme' }));
  expect(store.detail(id(1))).toMatchObject({ client: 'acme', claimed: false, kept: 'plain' });
});

test('the eleventh of equal refusals has no separate line: its span has the reason', () => {
  const store = openStore();
  const traced = { 'course_exchange.error.reason': 'wrong_secret' };
  store.addSpan(span({ service: 'identity', parentSpanId: '1', attributes: traced }));
  store.addLine(answered(traceId, { status: 401, code: 'invalid_client' }));
  expect(store.detail(traceId)).toMatchObject({ code: 'invalid_client', reason: 'wrong_secret' });
  const silent = { 'course_exchange.error.reason': 'the server is silent' };
  store.addSpan(span({ traceId: id(1), attributes: silent }));
  expect(store.detail(id(1))).toMatchObject({ reason: 'the server is silent' });
});

test('an operator’s change is listed with the requests, and kept as long as a refusal', () => {
  const store = openStore();
  const said = { service: 'identity', message: 'security event', event: 'consent.withdrawn', client: 'acme' };
  const name = 'courseexchange.operator.v1.ConsentService/WithdrawConsent';
  store.addSpan(span({ service: 'identity', name, attributes: {} }));
  expect(store.detail(traceId)).toMatchObject({ background: true });
  store.addLine(line({ service: 'identity', message: 'audited', event: 'operator.change', traceId }));
  store.addLine(line({ ...said, traceId }));
  expect(store.detail(traceId)).toMatchObject({
    ...{ name: 'ConsentService/WithdrawConsent', event: 'operator.change consent.withdrawn' },
    ...{ client: 'acme', claimed: false, background: false, kept: 'notable' },
  });
});

test('refused and slow requests outlive the others; its own polling and background work push nothing out', () => {
  const store = openStore({ notable: 2, plain: 2, background: 1, spans: 2, lines: 1 });
  store.addLine(answered(id(1), { status: 401 }));
  store.addLine(answered(id(2), { durationMs: 2_000 }));
  for (const digit of '3456') store.addLine(answered(id(digit)));
  const own = { name: 'postgres published signing keys', attributes: {} };
  for (const digit of '789') store.addSpan(span({ ...own, traceId: id(digit) }));
  store.addSpan(span({ ...own, name: 'postgres audit head', traceId: id('a') }));
  const { requests, discarded } = store.since(0);
  expect(requests.map((summary) => summary.id[0])).toEqual(['1', '2', '5', '6', '9']);
  expect(discarded.map((one) => one[0])).toEqual(['3', '4', '7', '8']);
  for (const spanId of ['1', '2', '3']) store.addSpan(span({ traceId: id(6), spanId }));
  expect(store.detail(id(6))?.trace).toHaveLength(2);
  expect(store.since(0).requests).toHaveLength(5);
});

test('slow is what takes longer than 99 of 100 answers of its name', () => {
  const store = openStore();
  const slow = (traceId: string) => store.detail(traceId)?.slow;
  for (let count = 0; count < 100; count += 1) store.addLine(answered(`${count}`, { durationMs: 10 }));
  store.addLine(answered(id(1), { durationMs: 11 }));
  store.addLine(answered(id(2), { durationMs: 10 }));
  expect([slow(id(1)), slow(id(2))]).toEqual([true, false]);
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

function tile(id: string) {
  const found = tiles.find((one) => one.id === id);
  if (!found) throw new Error(`There is no tile ${id}.`);
  return found;
}
const at = (time: number, text: string) => ({ time, samples: readSamples('gateway', text) });

test('refusals are counted by reason, also where a process has started again', () => {
  const counted = (count: number) =>
    `course_exchange_tokens_refused_total{error_type="invalid_grant",reason="refresh_token_reused",client_id="a\\"b"} ${count}\n` +
    `course_exchange_authorizations_refused_total{error_type="invalid_scope",reason="scope_not_approved"} ${count}\n` +
    `course_exchange_security_events_total{event="login.refused",reason="wrong_password"} ${count}\n` +
    `course_exchange_security_events_total{event="login.accepted",reason=""} ${count}`;
  const lines = [
    'invalid_grant: refresh_token_reused',
    'invalid_scope: scope_not_approved',
    'login.refused: wrong_password',
  ];
  const each = (count: number) => Object.fromEntries(lines.map((name) => [name, count]));
  const { read, totals } = tile('refusals');
  expect(read(at(10_000, counted(30)), at(0, counted(10)))).toEqual(each(20));
  expect(read(at(10_000, counted(5)), at(0, counted(10)))).toEqual(each(5));
  expect(totals?.(at(10_000, counted(30)), at(0, counted(10)))).toEqual(each(30));
});

test('keys: which process knows them, and the next step', () => {
  const identity = (state: string) =>
    `course_exchange_signing_key_age_seconds{kid="abcdefghij",state="${state}"} 9`;
  const catalog = 'course_exchange_key_set_keys{kid="abcdefghij"} 1';
  const told = (...texts: readonly string[]) => keyStep(at(0, texts.join('\n')));
  expect(tile('keys').read(at(0, identity('active')), at(0, ''))).toEqual({ 'abcdefgh active, gateway': 9 });
  expect(told(identity('active'), catalog)).toMatch(/design-catalog verifies with abcdefgh.*key rotate/);
  expect(told(identity('active'), identity('staged'), catalog)).toMatch(/key activate abcdefghij/);
  expect(told(identity('staged'))).toMatch(/no active key.*design-catalog reports no key of identity/);
});

test('quantiles lie within their bucket, as in histogram_quantile, and are absent if nothing was counted', () => {
  const buckets = (...counts: readonly number[]) =>
    `${['0.1', '0.2', '+Inf']
      .map((le, at) => `${seconds}_bucket{${route},le="${le}"} ${counts[at]}\n`)
      .join('')}${seconds}_count{${route}} ${counts[2]}`;
  const seconds = 'http_server_request_duration_seconds';
  const route = 'http_request_method="GET",http_route="/x"';
  const before = at(0, buckets(10, 10, 10));
  const { read, totals } = tile('duration');
  const grown = at(1_000, buckets(10, 20, 20));
  expect(read(grown, before)).toEqual({ 'GET /x': expect.closeTo(0.199) });
  expect(totals?.(grown, before)).toEqual({ 'GET /x': 10 });
  expect(read(at(1_000, buckets(10, 10, 20)), before)).toEqual({ 'GET /x': 0.2 });
  expect(read(at(1_000, buckets(10, 10, 10)), before)).toEqual({});
});
