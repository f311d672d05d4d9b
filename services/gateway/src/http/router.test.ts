// Routing over a real socket: what contract cannot ask of a deployment behind an ingress.
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { serveGateway } from '../../testing/served-gateway.ts';
import { errorReply } from './errors.ts';

const gateway = await serveGateway();
afterAll(() => gateway.close());

const token = { authorization: 'Bearer aaa.bbb.ccc' };

test('an encoded slash, a NUL and a very long id are ids, not routes (R20.3, R20.7)', async () => {
  for (const id of ['a%2Fb', '%00', '%ff', '%2F%ff', 'x'.repeat(12_000)])
    expect((await gateway.ask('GET', `/api/events/${id}/designs`, token)).status).toBe(200);
});

test('an unknown HTTP method is answered by its path like any other (R20.1, R31.3)', async () => {
  const brew = (path: string) => gateway.raw(`BREW ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
  for (const [path, allow] of [
    ['/api/events', 'GET'],
    ['/api/events/abc/designs?x=1', 'GET'],
    ['/token', 'POST'],
    ['/.well-known/jwks.json', 'GET, HEAD'],
  ] as const) {
    const answer = await brew(path);
    expect(answer, path).toMatch(/^HTTP\/1.1 405 /);
    expect(answer, path).toContain(`\r\nallow: ${allow}\r\n`);
    expect(answer, path).toMatch(/\r\n\r\n\{"error":"method_not_allowed"\}$/);
  }
  for (const path of ['/', '/api/events/', '/api/events//designs', '/api']) {
    const answer = await brew(path);
    expect(answer, path).toMatch(/^HTTP\/1.1 404 /);
    expect(answer, path).toMatch(/\{"error":"not_found"\}$/);
  }
});

const get = (headers: string) => `GET /api/events HTTP/1.1\r\nConnection: close\r\n${headers}\r\n\r\n`;

describe('bytes that are no request are refused with a one-field body (R25.1, R25.3, R25.11)', () => {
  test.each([
    ['garbage', '\u0001\u0002\r\n\r\n', 400],
    ['CONNECT', 'CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['two lengths', get('Host: x\r\nContent-Length: 1\r\nContent-Length: 2'), 400],
    ['an oversized header', get(`Host: x\r\nX-Long: ${'x'.repeat(20_000)}`), 431],
    ['two Hosts', get('Host: x\r\nHost: x'), 400],
    ['no Host', get('Accept: */*'), 400],
    ['a transfer coding other than chunked', get('Host: x\r\nTransfer-Encoding: gzip, chunked'), 400],
  ])('%s', async (_what, text, status) => {
    const answer = await gateway.raw(text);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(answer).toMatch(/\r\n\r\n\{"error":"invalid_request"\}$/);
    expect(answer).toMatch(/x-request-id: [0-9a-f-]{36}/i);
    expect(answer).toMatch(/x-content-type-options: nosniff/i);
  });

  test('an unknown expectation is answered as if it were not there', async () => {
    expect(await gateway.raw(get('Host: x\r\nExpect: a-miracle'))).toMatch(/^HTTP\/1.1 200 /);
  });

  test('an upgrade is not followed, and its connection is closed', async () => {
    const upgrade = 'GET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
    // Node reads no further than this.
    const answer = await gateway.raw(`${upgrade}GET /api/events HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect(answer.match(/(?<=HTTP\/1\.1 )\d+/g)).toEqual(['404']);
    expect(answer).toContain('\r\nconnection: close\r\n');
  });
});

test('a request after a refused body on its connection is answered', async () => {
  onTestFinished(() => gateway.server.closeAllConnections());
  const body = 'x'.repeat(4 * 1024 * 1024);
  const form = 'Host: x\r\nContent-Type: application/x-www-form-urlencoded';
  const answers = await gateway.raw(
    `POST /token HTTP/1.1\r\n${form}\r\nContent-Length: ${body.length}\r\n\r\n${body}` +
      'GET /elsewhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
  );
  expect(answers.match(/(?<=HTTP\/1\.1 )\d+/g)).toEqual(['400', '404']);
});

test('the access line names the route, never the path or the query (R27)', async () => {
  await gateway.ask('GET', '/api/events/canary-id/designs?code=canary-code', token);
  await expect.poll(() => gateway.lines.at(-1)).toContain('/api/events/:eventId/designs');
  expect(gateway.lines.join('')).not.toContain('canary');
});

test('an unknown code is a server_error that says nothing (R14.6)', () => {
  for (const code of ['connection to 10.0.0.1 refused', '__proto__', 'toString'])
    expect(errorReply(code, 'token', undefined)).toMatchObject({
      status: 500,
      body: '{"error":"server_error"}',
    });
});
