// What a gateway knows before it is ready.
import { DiscoveryService } from '@course-exchange/proto/identity/v1/discovery';
import { errorStatuses } from '@course-exchange/rules/error-codes';
import { bindService, serveRpc } from '@course-exchange/runtime/grpc/server';
import { Failure } from '@course-exchange/runtime/process/errors';
import { createLogger } from '@course-exchange/runtime/process/logger';
import { expect, onTestFinished, test, vi } from 'vitest';
import { cannedAnswers } from '../testing/canned-answers.ts';
import { connectServices } from './services.ts';

test('once identity has answered for discovery and key set, though late, they outlive it [R14.1]', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const getKeySet = vi
    .fn(async () => ({ jwks: '{"keys":[{"kid":"k1"}]}' }))
    .mockRejectedValueOnce(new Failure('temporarily_unavailable'));
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
