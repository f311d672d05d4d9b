// Bytes that no HTTP client sends, beyond those that services/gateway/src/http/router.test.ts sends to a gateway alone: never a
// 5xx, never a hang, and the server serves the next caller.
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { send } from '../support/http.ts';
import { ownStopwatch } from '../support/own-time.ts';
import { runningStack } from '../support/stack-file.ts';

const { issuer, processes } = runningStack();
const { host, hostname, port } = new URL(issuer);
const keySet = '/.well-known/jwks.json';
const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${more}\r\n`;
const post = (more: string) => `POST /token HTTP/1.1\r\nHost: ${host}\r\n${more}`;
const closing = 'Connection: close\r\n';

afterEach(async () => {
  expect((await send(`${issuer}/.well-known/openid-configuration`)).status).toBe(200);
  expect(runningStack().processes).toEqual(processes);
});

/** Writes each of `parts`, with `between` done before the next; all that comes until the server ends the connection. */
async function exchange(parts: readonly string[], between = async () => {}): Promise<string> {
  const socket = connect(Number(port), hostname).on('error', () => socket.destroy());
  let answer = '';
  socket.on('data', (chunk: Buffer) => {
    answer += chunk.toString('latin1');
  });
  const ended = new Promise((resolve) => socket.once('close', resolve));
  for (const [index, part] of parts.entries()) {
    if (index > 0) await between();
    socket.write(part);
  }
  await ended;
  return answer;
}

test.each([
  ['two encodings', post('Transfer-Encoding: chunked, identity\r\n\r\na=bc')],
  ['a length and an encoding', post('Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\na=bc')],
  ['a negative length', post('Content-Length: -4\r\n\r\na=bc')],
  [
    'a form that is too long',
    post(
      `${closing}Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 10000000\r\n\r\ncode=`,
    ) + 'x'.repeat(300_000),
  ],
])('%s: a one-field body, and the connection is closed', async (_what, text) => {
  const answer = await exchange([text]);
  expect(answer).toMatch(/^HTTP\/1\.1 4\d\d .*\r\n\r\n\{"error":"invalid_request"\}$/s);
});

test('bytes after a refused request on the same connection are not answered as a separate request', async () => {
  const refused = post('Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n');
  expect(await exchange([refused + get('/.well-known/openid-configuration')])).not.toContain(
    'token_endpoint',
  );
});

test('a foreign Host does not change the issuer', async () => {
  const request = get('/.well-known/openid-configuration', closing).replace(host, 'evil.example');
  const answer = await exchange([request]);
  expect(answer).toContain(`"${issuer}"`);
  expect(answer).not.toContain('evil.example');
});

test('requests far ahead of their answers end the connection, a few are answered in their order', async () => {
  expect((await exchange([get(keySet).repeat(20_000)])).split('HTTP/1.1 200').length).toBeLessThan(100);
  const few = await exchange([get(keySet).repeat(7) + get('/nowhere', closing)]);
  expect(few.match(/HTTP\/1\.1 \d+/g)).toEqual([...Array(7).fill('HTTP/1.1 200'), 'HTTP/1.1 404']);
});

test('a header that comes slowly does not keep others waiting', async () => {
  const parts = ['GET /api/ev', 'ents HTTP/1.1\r\nHo', `st: ${host}\r\n`, `${closing}\r\n`];
  const statuses: number[] = [];
  const slow = await exchange(parts, async () => {
    const others = await Promise.all(Array.from({ length: 20 }, () => send(issuer + keySet)));
    statuses.push(...others.map(({ status }) => status));
  });
  // Between two parts of the header.
  expect(statuses).toEqual(Array(60).fill(200));
  expect(slow).toMatch(/^HTTP\/1\.1 401 /);
});

test.each([
  'BREW /api/events HTTP/1.1',
  'OPTIONS * HTTP/1.1',
  `GET http://${host}/api/events HTTP/1.1`,
  'GET //api/events HTTP/1.1',
  'GET /api/../api/events HTTP/1.1',
  'GET /api/events HTTP/9.9',
  'PRI * HTTP/2.0',
])('%s is refused or routed', async (line) => {
  expect(await exchange([`${line}\r\nHost: ${host}\r\n${closing}\r\n`])).toMatch(/^HTTP\/1\.1 4\d\d /);
});

/** A connection on which a tunnel is asked for; this side never ends it by itself. */
function askForTunnel(): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true }, () => {
      socket.write(`CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\n\r\n`, () => resolve(socket));
    });
    socket.on('error', () => socket.destroy());
  });
}

test('a CONNECT that is reset at once, or 200 ms later, does not end the server', async () => {
  for (const pause of [0, 10, 200]) {
    const sockets = await Promise.all(Array.from({ length: 10 }, askForTunnel));
    await sleep(pause);
    for (const socket of sockets) socket.resetAndDestroy();
    expect((await send(issuer + keySet)).status).toBe(200);
  }
});

test('a CONNECT whose client holds on is closed by the server within 5 s', async () => {
  const had = ownStopwatch();
  const socket = await askForTunnel();
  let answer = '';
  socket.on('data', (chunk: Buffer) => {
    answer += chunk.toString('latin1');
  });
  // This side stays open: only an end from there, or a write that fails, tells that the server is done.
  const isGone = () => {
    if (socket.readableEnded) socket.write('\r\n');
    return socket.destroyed;
  };
  await expect.poll(isGone).toBe(true);
  expect(had()).toBeLessThan(5_000);
  expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /);
});
