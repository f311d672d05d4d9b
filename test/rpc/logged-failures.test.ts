import { DiscoveryService } from '@course-exchange/proto/identity/v1/discovery';
import { carryContextAcrossAwaits, withCall } from '@course-exchange/runtime/call-context';
import { unavailable } from '@course-exchange/runtime/failure';
import { createLogger } from '@course-exchange/runtime/logger';
import { connectRpc } from '@course-exchange/runtime/rpc-client';
import { served, serveRpc } from '@course-exchange/runtime/rpc-server';
import { context, ROOT_CONTEXT } from '@opentelemetry/api';
import { expect, test } from 'vitest';

test.each([
  ['an unforeseen error', new TypeError('secret'), 'unforeseen error'],
  ['a store that does not answer', unavailable('the store', new Error('secret')), 'call failed'],
])('%s is logged with the request id of its call', async (_what, error, message) => {
  carryContextAcrossAwaits();
  const lines: string[] = [];
  const server = await serveRpc({
    services: [
      served(DiscoveryService, {
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
    timeoutMs: 5_000,
  });
  try {
    const discovery = connection.client(DiscoveryService);
    const active = withCall(ROOT_CONTEXT, 'request-0001', Date.now() + 5_000);
    await expect(context.with(active, () => discovery.getDiscovery({}))).rejects.toThrow();
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ message, requestId: 'request-0001' }),
    ]);
    expect(lines.join()).not.toContain('secret');
  } finally {
    connection.close();
    await server.stop(100);
  }
});
