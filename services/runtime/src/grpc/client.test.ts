// A call that the server refused was not processed: it is sent again, whatever it is (RFC 9113 §8.7).
import { once } from 'node:events';
import { constants, createServer, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { CatalogService } from '@course-exchange/proto/catalog/v1';
import { TokenService } from '@course-exchange/proto/identity/v1/token';
import { expect, onTestFinished, test } from 'vitest';
import { connectRpc } from './client.ts';

type RpcConnection = ReturnType<typeof connectRpc>;
const long = 'x'.repeat(200_000);

test.each([
  ['token call', (rpc: RpcConnection) => rpc.client(TokenService).exchangeToken({ refreshToken: long })],
  ['list', (rpc: RpcConnection) => rpc.client(CatalogService).listDesigns({ eventId: long })],
])('a %s that a departing server refuses reaches the next one', async (_what, call) => {
  const streams: string[] = [];
  const server = createServer();
  server.on('stream', (stream: ServerHttp2Stream, headers) => {
    stream.on('error', () => {});
    const path = String(headers[':path']);
    // Whether it lives (liveness.ts).
    if (path.startsWith('/grpc.health.')) return stream.close();
    streams.push(path);
    if (streams.length === 1) return stream.close(constants.NGHTTP2_REFUSED_STREAM);
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    return stream.end(Buffer.alloc(5));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const target = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const rpc = connectRpc([TokenService, CatalogService], { target, timeoutMs: 5_000, reads: [] });
  onTestFinished(() => {
    rpc.close();
    server.close();
  });
  await call(rpc);
  expect(streams).toEqual([streams[0], streams[0]]);
});
