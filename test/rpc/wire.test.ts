// What a call between services brings along, what comes of one that fails, and of one whose server hangs.
import { createClient } from '@connectrpc/connect';
import { TokenService } from '@course-exchange/proto/identity/v1/token';
import type { IncomingCall } from '@course-exchange/runtime/grpc/incoming-call';
import { Failure, Overloaded, unavailable } from '@course-exchange/runtime/process/errors';
import { createLogger } from '@course-exchange/runtime/process/logger';
import { measureWith } from '@course-exchange/runtime/process/metrics';
import { currentCall, nameSubject, withCall } from '@course-exchange/runtime/process/request-context';
import { startTelemetry } from '@course-exchange/runtime/process/telemetry';
import { context, propagation, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { grpcTransport } from '../support/grpc-client.ts';
import { ownStopwatch } from '../support/own-time.ts';
import { client, cuttable, gate, pod } from './pods.ts';

let metricsText: (() => Promise<string>) | undefined;
beforeAll(async () => {
  ({ metricsText } = await startTelemetry('test', {
    OTEL_EXPORTER_OTLP_ENDPOINT: undefined,
    OTEL_METRICS_EXPORTER: 'prometheus',
    OTEL_TRACES_SAMPLER_ARG: 1,
  }));
});
afterAll(() => measureWith(undefined));

test('a stream longer than any window arrives whole and in order', async () => {
  const bytes = Buffer.alloc(
    4_000_000,
    Uint8Array.from({ length: 251 }).map((_, index) => index),
  );
  const { port } = await pod({
    listEvents: async function* () {
      for (let at = 0; at < bytes.length; at += 100_000) yield { body: bytes.subarray(at, at + 100_000) };
    },
  });
  const parts = await client([port]).listEvents({});
  expect(parts).toHaveLength(40);
  expect(Buffer.concat(parts.map(({ body }) => body)).equals(bytes)).toBe(true);
});

test('request id, address, trace context and a shorter deadline travel with the call', async () => {
  let seen: Readonly<Record<'requestId' | 'left' | 'traceId' | 'address', unknown>> | undefined;
  const { port } = await pod({
    exchangeToken: async () => {
      const { requestId, deadline, clientAddress: address } = currentCall();
      const traceId = trace.getSpanContext(context.active())?.traceId;
      seen = { requestId, left: deadline - Date.now(), traceId, address };
      return {};
    },
  });
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const incoming = propagation.extract(ROOT_CONTEXT, { traceparent: `00-${traceId}-00f067aa0ba902b7-01` });
  await context.with(withCall(incoming, 'request-0042', Date.now() + 10_000, '192.0.2.7'), () =>
    client([port]).exchangeToken({}),
  );
  expect(seen).toMatchObject({ requestId: 'request-0042', traceId, address: '192.0.2.7' });
  expect(seen?.left).toBeGreaterThan(0);
  expect(seen?.left).toBeLessThanOrEqual(9_950);
});

test('a call of a caller that sets no deadline has none, as of an operator who follows the audit log', async () => {
  let deadline: number | undefined;
  const { port } = await pod({
    exchangeToken: async () => {
      ({ deadline } = currentCall());
      return {};
    },
  });
  await createClient(TokenService, grpcTransport(`127.0.0.1:${port}`)).exchangeToken({});
  expect(deadline).toBe(Number.POSITIVE_INFINITY);
});

test('an answer, a list and a refusal report user and client for the line of the caller', async () => {
  const { port } = await pod({
    exchangeToken: async ({ code }) => {
      nameSubject({ user: code, client: 'partner' });
      if (code === 'refused') throw new Failure('invalid_grant');
      return {};
    },
    listEvents: async function* () {
      nameSubject({ user: 'lister', client: 'partner' });
      yield {};
    },
  });
  const { exchangeToken, listEvents } = client([port]);
  const reported = async (ask: () => Promise<unknown>) => {
    const asked = withCall(ROOT_CONTEXT, 'request-0042', Date.now() + 20_000);
    await context.with(asked, ask).catch(() => {});
    return currentCall(asked).subject;
  };
  for (const code of ['answered', 'refused'])
    expect(await reported(() => exchangeToken({ code }))).toEqual({ user: code, client: 'partner' });
  expect(await reported(() => listEvents({}))).toEqual({ user: 'lister', client: 'partner' });
});

const secret = new Error('secret');
test.each<[string, Error, string, string?]>([
  ['a refusal', new Failure('not_found'), 'not_found'],
  ['an unforeseen error', new TypeError('secret'), 'server_error', 'unforeseen error'],
  ['overload', new Overloaded('password_queue_full'), 'temporarily_unavailable', 'call failed'],
  ['a silent store', unavailable('the store', secret), 'temporarily_unavailable', 'call failed'],
])(
  '%s keeps its code, not its text, is not sent again, and a fault is logged',
  async (_, error, code, line) => {
    const lines: string[] = [];
    const logger = createLogger('test', 'debug', (text) => lines.push(text));
    let calls = 0;
    const getUserInfo = () => {
      calls += 1;
      return Promise.reject(error);
    };
    const { port } = await pod({ getUserInfo }, { logger });
    const { getUserInfo: ask } = client([port]);
    const active = withCall(ROOT_CONTEXT, 'request-0001', Date.now() + 20_000);
    const failure = await context.with(active, () => ask({}).catch((thrown: Failure) => thrown));
    expect(failure).toMatchObject({ code });
    expect(JSON.stringify([failure, lines])).not.toContain('secret');
    expect(calls).toBe(1);
    expect(lines.map((text) => JSON.parse(text))).toEqual(
      line ? [expect.objectContaining({ message: line, requestId: 'request-0001' })] : [],
    );
  },
);

test('a call refused for want of capacity is counted by its reason', async () => {
  const refused = /^course_exchange_rpc_server_calls_refused_total\{(.+)\} 1$/m;
  expect(refused.exec((await metricsText?.()) ?? '')?.[1]).toMatch(
    /TokenService\/GetUserInfo.+reason="password_queue_full"/,
  );
});

test('a call to a port where nothing listens is temporarily_unavailable within its time (R14.2)', async () => {
  const elapsed = ownStopwatch();
  const failure = await client([1], { timeoutMs: 300 })
    .exchangeToken({})
    .catch((thrown: Failure) => thrown);
  expect(failure).toMatchObject({ code: 'temporarily_unavailable' });
  expect(elapsed()).toBeLessThan(2_000);
});

/** Ten calls, one after the other. */
async function areAnswered({ exchangeToken }: Pick<ReturnType<typeof client>, 'exchangeToken'>) {
  for (let call = 0; call < 10; call += 1)
    if (!(await exchangeToken({}).then(Boolean, () => false))) return false;
  return true;
}

test('a server that hangs is left for another one until it goes on (decision 0029)', async () => {
  const { held, hold, release } = gate();
  const holdList = async function* (request: unknown, call: IncomingCall) {
    yield { body: Buffer.from((await hold(request, call)).accessToken) };
  };
  const [hangs, stays] = [await pod(), await pod({ listEvents: holdList })];
  const link = await cuttable(hangs.port);
  // A held list must outlive the seconds in which the silence is found.
  const calls = client([link.port, stays.port], { timeoutMs: 10_000 });
  await expect.poll(() => calls.exchangeToken({}).then(hangs.calls)).toBeGreaterThan(0);
  const lists: Promise<number>[] = [];
  const parts = ({ length }: readonly unknown[]) => length;
  // Those of the other server are answered at once, without a part.
  const ask = () => lists.push(calls.listEvents({}).then(parts, () => 0)) && held.length;
  await expect.poll(ask).toBeGreaterThan(3);
  link.mute();
  await expect.poll(() => areAnswered(calls)).toBe(true);
  release();
  expect((await Promise.all(lists)).filter(Boolean)).toHaveLength(held.length);
  const before = hangs.calls();
  link.unmute();
  await expect.poll(() => calls.exchangeToken({}).then(hangs.calls)).toBeGreaterThan(before);
});

test('the only server hangs: calls reach what new connections lead to', async () => {
  const [hangs, other] = [await pod(), await pod()];
  const link = await cuttable(hangs.port);
  const calls = client([link.port], { timeoutMs: 3_000 });
  await calls.exchangeToken({});
  link.mute();
  link.leadTo(other.port);
  await expect.poll(() => areAnswered(calls)).toBe(true);
  expect(other.calls()).toBeGreaterThan(0);
});
