// What a gateway knows of identity before it is ready and while identity is down.
import { DiscoveryService } from '@course-exchange/proto/identity/v1/discovery';
import { errorStatuses } from '@course-exchange/rules/error-codes';
import { bindService, serveRpc } from '@course-exchange/runtime/grpc/server';
import { Failure } from '@course-exchange/runtime/process/errors';
import { createLogger } from '@course-exchange/runtime/process/logger';
import { expect, onTestFinished, test, vi } from 'vitest';
import { cannedAnswers } from '../testing/served-gateway.ts';
import { bearerCall, connectServices, withLastAnswer } from './services.ts';

test('discovery and key set outlive identity once it has answered for them, even at a retry [R14.1]', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const getKeySet = vi
    .fn(async () => ({ jwks: '{"keys":[{"kid":"k1"}]}' }))
    .mockRejectedValueOnce(unavailable);
  const identity = await serveRpc({
    services: [bindService(DiscoveryService, { ...cannedAnswers, getKeySet })],
    errorStatuses,
    logger: createLogger('stand-in', 'error'),
    address: '127.0.0.1:0',
  });
  const target = `127.0.0.1:${identity.port}`;
  const services = connectServices({ identity: target, catalog: target, timeoutMs: 5_000, now: Date.now });
  onTestFinished(services.close);
  await services.reached(10_000);
  vi.advanceTimersByTime(5_000);
  await vi.waitFor(() => expect(getKeySet).toHaveResolvedTimes(1));
  await identity.stop(0);
  expect((await services.discovery.keySet()).jwks).toContain('"kid":"k1"');
  expect((await services.discovery.document()).responseTypesSupported).toEqual(['code']);
});

test('a call never goes to a proxy that the environment names', async () => {
  for (const name of ['http_proxy', 'https_proxy', 'grpc_proxy']) vi.stubEnv(name, 'http://127.0.0.1:9');
  onTestFinished(() => void vi.unstubAllEnvs());
  const identity = await serveRpc({
    services: [bindService(DiscoveryService, cannedAnswers)],
    errorStatuses,
    logger: createLogger('stand-in', 'error'),
    address: '127.0.0.1:0',
  });
  onTestFinished(() => identity.stop(0));
  const target = `127.0.0.1:${identity.port}`;
  const services = connectServices({ identity: target, catalog: target, timeoutMs: 1_000, now: Date.now });
  onTestFinished(services.close);
  await services.reached(1_000);
  expect((await services.discovery.document()).responseTypesSupported).toEqual(['code']);
});

const unavailable = new Failure('temporarily_unavailable');

function scene() {
  const clock = { now: 0 };
  const answer = vi.fn(async () => 'first');
  return { clock, answer, read: withLastAnswer(answer, () => clock.now) };
}

test('a fresh answer is requested when no request waits for one', async () => {
  const { answer, read } = scene();
  await read();
  answer.mockResolvedValue('second');
  expect(await read()).toBe('second');
});

test('callers who ask meanwhile get the same answer', async () => {
  const { answer, read } = scene();
  expect(await Promise.all([read(), read(), read()])).toEqual(['first', 'first', 'first']);
  expect(answer).toHaveBeenCalledOnce();
});

test('the last answer is reused for an hour, and after a failure no request waits for the next one', async () => {
  const { clock, answer, read } = scene();
  await read();
  answer.mockRejectedValue(unavailable);
  expect(await read()).toBe('first');
  expect([await read(), answer.mock.calls.length]).toEqual(['first', 2]);
  clock.now = 2_000;
  expect([await read(), answer.mock.calls.length]).toEqual(['first', 3]);
  clock.now = 3_600_000;
  await expect(read()).rejects.toBe(unavailable);
});

test('the caller sees a failure if there never was an answer, and every other failure', async () => {
  const { answer, read } = scene();
  answer.mockRejectedValueOnce(unavailable);
  await expect(read()).rejects.toBe(unavailable);
  await read();
  answer.mockRejectedValueOnce(new Failure('server_error'));
  await expect(read()).rejects.toMatchObject({ code: 'server_error' });
});

test('a token has the letters of RFC 6750, and its header is of a bounded length', () => {
  expect(bearerCall('bearer  a.b-c_d~e+f/g== ').bearer).toBe('a.b-c_d~e+f/g==');
  const long = `Bearer ${'a'.repeat(8_192)}`;
  for (const header of [undefined, '', 'Bearer', 'Bearer a b', 'Bearer é', 'Basic abc', long])
    expect([header, bearerCall(header).bearer]).toEqual([header, undefined]);
});
