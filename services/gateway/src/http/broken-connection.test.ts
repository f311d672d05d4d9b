// One answer to one request, and none to bytes behind a request whose end is in doubt (R25.3).
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { serveGateway } from '../../testing/served-gateway.ts';

const gateway = await serveGateway();
afterAll(() => gateway.close());

const next = 'GET /elsewhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
const post = (headers: string, body: string, version = '1.1') =>
  `POST /token HTTP/${version}\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n${headers}\r\n\r\n${body}`;
const whole = '3\r\na=b\r\n0\r\n\r\n';
const statuses = (answers: string) => answers.match(/(?<=HTTP\/1\.1 )\d+/g);

const codings = [
  ...['xchunked', '"chunked"', 'chunked;p=1', 'gzip, chunked', 'chunked, gzip', 'chunked, chunked'],
  ...['identity', 'gzip', ' ', 'chunked\r\nTransfer-Encoding: chunked', 'gzip\r\nTransfer-Encoding: chunked'],
  ...['chunked\r\nTransfer-Encoding: identity', 'chunked\r\nContent-Length: 3', 'chunked\r\nHost: x'],
];

test.each(codings)(
  'a request with Transfer-Encoding: %j has one answer, and the connection ends',
  async (coding) => {
    for (const body of [whole, whole + next, next + next, `xyz\r\n${next}`, '']) {
      const answer = await gateway.raw(post(`Transfer-Encoding: ${coding}`, body));
      expect(statuses(answer), body).toEqual(['400']);
      expect(answer).toMatch(/\r\nconnection: close\r\n(.*\r\n)?\r\n\{"error":"invalid_request"\}$/is);
    }
  },
);

test('a transfer coding in HTTP/1.0 has one answer, and the connection ends', async () => {
  const old = post('Connection: keep-alive\r\nTransfer-Encoding: chunked', whole, '1.0');
  expect(statuses(await gateway.raw(old + next))).toEqual(['400']);
});

test.each([
  ['a body', post('Transfer-Encoding: chunked', `xyz\r\n${next}`), ['400']],
  [
    'the body of an unknown route',
    `PUT /x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n${next}`,
    ['404'],
  ],
  [
    'the body of a GET',
    `GET /api/events HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n${next}`,
    ['400'],
  ],
  [
    'a broken address',
    `GET /%zz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n${whole}${next}`,
    ['400'],
  ],
  ['what follows a request', `GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n\u0001\r\n\r\n${next}`, ['404']],
  [
    'what follows a slow request',
    `GET /.well-known/jwks.json HTTP/1.1\r\nHost: x\r\n\r\n\u0001\r\n\r\n${next}`,
    ['200'],
  ],
  [
    'a tunnel behind a slow request',
    `GET /.well-known/jwks.json HTTP/1.1\r\nHost: x\r\n\r\nCONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n${next}`,
    ['200'],
  ],
  [
    'what follows a last request',
    `GET /.well-known/jwks.json HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n${next}`,
    ['200'],
  ],
])("%s is malformed: no request has two answers or another one's", async (_what, text, expected) => {
  expect(statuses(await gateway.raw(text))).toEqual(expected);
});

test('a body that turns out malformed after the answer is not answered again', async () => {
  const socket = connect(gateway.port, '127.0.0.1').setEncoding('latin1');
  const parts: string[] = [];
  socket.on('data', (part: string) => {
    parts.push(part);
    socket.write(`xyz\r\n${next}`);
  });
  socket.write('PUT /x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
  await once(socket, 'close');
  expect(statuses(parts.join(''))).toEqual(['404']);
});
