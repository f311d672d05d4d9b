// An OTLP/HTTP collector that keeps what it is sent, so that a test can look at real spans.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { readSpans } from '@course-exchange/local-stack/observe/telemetry';

export type TraceReceiver = Awaited<ReturnType<typeof receiveTraces>>;

export async function receiveTraces() {
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    bodies.push(await text(request));
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    raw: () => bodies.join('\n'),
    spans: () => bodies.flatMap((body) => readSpans(JSON.parse(body))),
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
