import { createServer, type Http2Server } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { connectRpc, type RpcConnection } from './rpc-client.ts';

const open: { connection?: RpcConnection; server?: Http2Server } = {};

afterEach(() => {
  open.connection?.close();
  open.server?.close();
});

function connectTo(port: number): RpcConnection {
  open.connection = connectRpc([], { target: `127.0.0.1:${port}`, reads: [], timeoutMs: 1_000 });
  return open.connection;
}

async function listen(port: number): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  open.server = server;
  return (server.address() as AddressInfo).port;
}

test('a service that comes later than its client is reached without a call', async () => {
  const port = await listen(0);
  await new Promise((resolve) => open.server?.close(resolve));
  const reached = connectTo(port).reached(10_000);
  await new Promise((resolve) => setTimeout(resolve, 300));
  const sessions = new Promise((resolve) => {
    listen(port).then(() => open.server?.once('session', resolve));
  });
  await Promise.all([reached, sessions]);
});

test('a service that never comes is waited for no longer than is said', async () => {
  const port = await listen(0);
  await new Promise((resolve) => open.server?.close(resolve));
  const begun = performance.now();
  await connectTo(port).reached(400);
  expect(performance.now() - begun).toBeGreaterThan(350);
});
