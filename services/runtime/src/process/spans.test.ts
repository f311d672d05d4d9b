// Spans as the SDK records them: what an error leaves on them, and what a trace that is not kept passes on.
import {
  type Attributes,
  context,
  defaultTextMapSetter,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  type SpanStatus,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { startNodeSdk } from '@opentelemetry/sdk-node';
import { afterAll, afterEach, expect, test, vi } from 'vitest';

interface EndedSpan {
  readonly name: string;
  readonly status: SpanStatus;
  readonly attributes: Attributes;
  readonly events: readonly { readonly name: string; readonly attributes?: Attributes }[];
}

const ended = new Map<string, EndedSpan>();
vi.stubEnv('OTEL_LOG_LEVEL', 'none');
// Another file of this process may have left its own provider, to which a tracer stays bound.
for (const api of [trace, context, propagation]) api.disable();
vi.resetModules();
const { Failure, unavailable } = await import('./errors.ts');
const { logText } = await import('./logger.ts');
const { annotate, inSpan, recordError, renameSpan } = await import('./spans.ts');
const sdk = startNodeSdk({
  spanProcessors: [
    {
      onStart: () => {},
      onEnd: (span: EndedSpan) => void ended.set(span.name, span),
      forceFlush: async () => {},
      shutdown: async () => {},
    },
  ],
  metricReaders: [],
  logRecordProcessors: [],
});
afterEach(() => ended.clear());
afterAll(() => sdk.shutdown());

/** Two spans, one in the other, around `work`. */
function nested(work: () => Promise<unknown>): Promise<unknown> {
  const inner = () => inSpan('inner', SpanKind.CLIENT, {}, work);
  return inSpan('outer', SpanKind.SERVER, {}, inner);
}

const secret = 'a secret that a driver quotes';

test('a fault is an error of all spans that it passes, and is described where it happened', async () => {
  const cause = Object.assign(new TypeError(secret), { code: 'ECONNREFUSED' });
  await expect(nested(() => Promise.reject(unavailable('Redis', cause)))).rejects.toThrow();
  const failed = { code: SpanStatusCode.ERROR };
  expect(ended.get('inner')).toMatchObject({
    status: failed,
    attributes: {
      'error.type': 'temporarily_unavailable',
      'course_exchange.error.reason': 'Redis does not answer',
    },
    events: [
      {
        name: 'exception',
        attributes: { 'exception.type': 'TypeError', 'course_exchange.exception.code': 'ECONNREFUSED' },
      },
    ],
  });
  expect(ended.get('inner')?.events[0]?.attributes?.['exception.stacktrace']).toContain('spans.test.ts');
  expect(ended.get('outer')).toMatchObject({
    status: failed,
    attributes: { 'error.type': 'temporarily_unavailable' },
    events: [],
  });
  expect(ended.get('outer')?.attributes).not.toHaveProperty('course_exchange.error.reason');
  const told = JSON.stringify(
    [...ended.values()].map(({ status, attributes, events }) => [status, attributes, events]),
  );
  expect(told).not.toContain(secret);
});

test('a refusal has its code and its reason, and is no error of a span', async () => {
  await expect(nested(() => Promise.reject(new Failure('invalid_grant', 'reused')))).rejects.toThrow();
  expect(ended.get('inner')).toMatchObject({
    status: { code: SpanStatusCode.UNSET },
    attributes: { 'error.type': 'invalid_grant', 'course_exchange.error.reason': 'reused' },
    events: [],
  });
  expect(ended.get('outer')?.status).toEqual({ code: SpanStatusCode.UNSET });
});

test.each([
  ['connect ECONNREFUSED 10.0.0.7:7001', 'connect ECONNREFUSED an address'],
  ['connect ETIMEDOUT fd00::7:7001', 'connect ETIMEDOUT an address'],
  [
    'Deadline exceeded after 1.8s,LB pick: 0.001s,remote_addr=[fd00::7]:7001',
    'Deadline exceeded after 1.8s,LB pick: 0.001s,remote_addr=an address',
  ],
  [
    "Host: identity. is not in the cert's altnames: DNS:x",
    "Host: identity. is not in the cert's altnames: DNS:x",
  ],
])('the reason %j holds no address of a pod', async (reason, recorded) => {
  await inSpan('call', SpanKind.CLIENT, {}, async () =>
    recordError(new Failure('temporarily_unavailable', reason)),
  );
  expect(ended.get('call')?.attributes['course_exchange.error.reason']).toBe(recorded);
});

test('an unforeseen error that became an answer is recorded on the span that answered', async () => {
  await inSpan('outer', SpanKind.SERVER, {}, async () => recordError(new RangeError(secret)));
  expect(ended.get('outer')).toMatchObject({
    status: { code: SpanStatusCode.ERROR },
    attributes: { 'error.type': 'RangeError' },
    events: [{ attributes: { 'exception.type': 'RangeError' } }],
  });
});

test('attributes and a late name go to the active span', async () => {
  await nested(async () => {
    annotate(() => ({ 'course_exchange.grant_type': logText('refresh_token') }));
    renameSpan('named late');
  });
  expect(ended.get('named late')?.attributes).toEqual({ 'course_exchange.grant_type': 'refresh_token' });
  expect(ended.get('outer')?.attributes).toEqual({});
});

test('a trace that is not kept goes on as such, and nothing is made for it [R32.2]', async () => {
  const traceId = 'c0ffee00c0ffee00c0ffee00c0ffee00';
  const notKept = trace.wrapSpanContext({ traceId, spanId: '00f067aa0ba902b7', traceFlags: TraceFlags.NONE });
  const sent: Record<string, string> = {};
  const made = vi.fn(() => ({}));
  await context.with(trace.setSpan(ROOT_CONTEXT, notKept), () =>
    nested(async () => {
      annotate(made);
      new W3CTraceContextPropagator().inject(context.active(), sent, defaultTextMapSetter);
    }),
  );
  // The caller's span: there is none of ours.
  expect(sent.traceparent).toBe(`00-${traceId}-00f067aa0ba902b7-00`);
  expect(made).not.toHaveBeenCalled();
  expect(ended.size).toBe(0);
});
