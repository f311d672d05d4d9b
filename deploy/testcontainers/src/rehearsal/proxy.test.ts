// The proxy sends to its gateway alone, whatever a request names, and holds only so much of it.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { startRehearsalProxy } from './proxy.ts';

const asked: string[] = [];
const listen = async (name: string) => {
  const server = createServer((request, response) => {
    asked.push(`${name} ${request.url}`);
    request.resume().once('end', () => response.end('{}'));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { server, port: (server.address() as AddressInfo).port };
};
const [gateway, other] = [await listen('gateway'), await listen('other')];
const proxy = await startRehearsalProxy(
  () => `http://127.0.0.1:${gateway.port}`,
  0,
  'https://tunnel.example',
);
afterAll(async () => {
  await proxy.stop();
  for (const { server } of [gateway, other]) server.close();
});
beforeEach(() => {
  asked.length = 0;
});

const own = `127.0.0.1:${proxy.port}`;
const there = `127.0.0.1:${other.port}`;

async function status(line: string, headers: string, body: string[] = []): Promise<string | undefined> {
  const socket = connect(proxy.port, '127.0.0.1').setEncoding('latin1');
  const parts: string[] = [];
  socket.on('data', (part: string) => parts.push(part)).on('error', () => socket.destroy());
  socket.write(`${line} HTTP/1.1\r\nConnection: close\r\nAuthorization: Bearer a\r\n${headers}\r\n\r\n`);
  for (const part of body) socket.write(part);
  await once(socket, 'close');
  return /^HTTP\/1\.1 (\d+)/.exec(parts.join(''))?.[1];
}

test.each([
  ...[`/..//${there}/x`, `//${there}/x`, `/.//${there}/x`, `/a/../..//${there}/x`, `/%2e%2e//${there}/x`],
  ...[
    `/\\${there}/x`,
    `\\\\${there}/x`,
    `/\\/${there}/x`,
    `//user@${there}/x`,
    `/@${there}/x`,
    `///${there}/x`,
  ],
  ...[`http://${there}/x`, `HTTP://${there}/x`, `http:${there}/x`, `//`, '/..', '*', '/token?a=//b'],
])('%s goes to the gateway as it is, or nowhere', async (path) => {
  expect(await status(`GET ${path}`, `Host: ${own}`)).toMatch(/^(200|400)$/);
  expect([[], [`gateway ${path}`]]).toContainEqual(asked);
});

test.each(['localhost', '127.0.0.1', '[::1]', 'LOCALHOST', 'tunnel.example'])(
  'Host: %s is answered',
  async (host) => {
    for (const port of ['', `:${proxy.port}`])
      expect(await status('GET /x', `Host: ${host}${port}`)).toBe('200');
  },
);

test.each([
  'evil.example',
  '127.0.0.1.evil.example',
  'localhost@evil.example',
  'x localhost',
  '',
  '127.0.0.2',
  `${there}x`,
])('Host: %j is refused: a page of another name could ask', async (host) => {
  expect(await status('GET /x', `Host: ${host}`)).toMatch(/^4(00|21)$/);
  expect(asked).toEqual([]);
});

test('two Hosts are refused', async () => {
  expect(await status('GET /x', `Host: ${own}\r\nHost: evil.example`)).toMatch(/^4(00|21)$/);
});

test.each(['Content-Length: 3000000', 'Transfer-Encoding: chunked'])(
  'a body that is too long is refused: %s',
  async (framing) => {
    const body = Array(30).fill(
      framing.startsWith('C') ? 'x'.repeat(100_000) : `186a0\r\n${'x'.repeat(100_000)}\r\n`,
    );
    expect(await status('POST /token', `Host: ${own}\r\n${framing}`, body)).toMatch(/^413$/);
    expect(asked).toEqual([]);
  },
);
