import { DiscoveryService } from '@course-exchange/proto/identity/v1/discovery';
import { connectRpc } from '@course-exchange/runtime/grpc/client';
import { bindService, serveRpc } from '@course-exchange/runtime/grpc/server';
import { Overloaded, unavailable } from '@course-exchange/runtime/process/errors';
import { createLogger } from '@course-exchange/runtime/process/logger';
import { measureWith } from '@course-exchange/runtime/process/metrics';
import { carryContextAcrossAwaits, withCall } from '@course-exchange/runtime/process/request-context';
import { startTelemetry } from '@course-exchange/runtime/process/telemetry';
import { context, ROOT_CONTEXT } from '@opentelemetry/api';
import { expect, onTestFinished, test } from 'vitest';

test.each([
  ['an unforeseen error', new TypeError('secret'), 'unforeseen error'],
  ['more work than there is room for', new Overloaded('the queue is full'), 'call failed'],
  ['a store that does not answer', unavailable('the store', new Error('secret')), 'call failed'],
])('%s is logged with the request id of its call', async (_what, error, message) => {
  carryContextAcrossAwaits();
  const { metricsText } = await startTelemetry('test', {
    OTEL_EXPORTER_OTLP_ENDPOINT: undefined,
    OTEL_METRICS_EXPORTER: 'prometheus',
    OTEL_TRACES_SAMPLER_ARG: 1,
  });
  onTestFinished(() => measureWith(undefined));
  const lines: string[] = [];
  const server = await serveRpc({
    services: [
      bindService(DiscoveryService, {
        getDiscovery: () => Promise.reject(error),
        getKeySet: () => Promise.reject(error),
      }),
    ],
    errorStatuses: { temporarily_unavailable: 14, server_error: 13 },
    logger: createLogger('test', 'debug', (line) => lines.push(line)),
    address: '127.0.0.1:0',
  });
  const connection = connectRpc([DiscoveryService], {
    target: `127.0.0.1:${server.port}`,
    reads: [],
    timeoutMs: 20_000,
  });
  try {
    const discovery = connection.client(DiscoveryService);
    const active = withCall(ROOT_CONTEXT, 'request-0001', Date.now() + 20_000);
    await expect(context.with(active, () => discovery.getDiscovery({}))).rejects.toThrow();
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ message, requestId: 'request-0001' }),
    ]);
    expect(lines.join()).not.toContain('secret');
    const refused = (await metricsText?.())?.match(
      /^course_exchange_rpc_server_calls_refused_total\{.+/m,
    )?.[0];
    if (!(error instanceof Overloaded)) expect(refused).toBeUndefined();
    else expect(refused).toMatch(/DiscoveryService\/GetDiscovery.+reason="the queue is full".*\} 1$/);
  } finally {
    connection.close();
    await server.stop(100);
  }
});
