// What a trusted proxy received by http is not served where the issuer is https (R28.3).
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { type ServedGateway, type ServedOptions, serveGateway } from '../../testing/served-gateway.ts';
import { trustedProxy } from './plain-http.ts';

const issuer = 'https://exchange.test';
const here = ['127.0.0.0/8', '::1'];
const discovery = '/.well-known/openid-configuration';
const gateway = await serveGateway({ issuer, trustedProxies: here });
afterAll(() => gateway.close());

async function ask(...request: Parameters<ServedGateway['ask']>) {
  const { status, headers, body } = await gateway.ask(...request);
  return { status, location: headers.location, body };
}

const http = { 'x-forwarded-proto': 'http' };

test('GET and HEAD over http are redirected to the issuer, before any path or method is checked [R28.3]', async () => {
  const paths = [discovery, '/authorize?client_id=a&state=%ff', '/nowhere', '/token', '//evil.test/%zz'];
  for (const method of ['GET', 'HEAD'])
    for (const path of paths) {
      const seen = await ask(method, path, http);
      expect(seen, `${method} ${path}`).toEqual({ status: 308, location: issuer + path, body: '' });
    }
  expect((await ask('GET', 'http://evil.test/', http)).location).toBe(`${issuer}/`);
  for (const said of ['HTTP', 'https, http', ['https', 'http ']])
    expect((await ask('GET', discovery, { 'x-forwarded-proto': said })).status).toBe(308);
});

test('everything else over http is 400, before any path, method or credential is checked [R28.3]', async () => {
  const refused = { status: 400, location: undefined, body: '{"error":"invalid_request"}' };
  for (const path of ['/token', '/authorize', '/userinfo', '/nowhere', '/%zz'])
    for (const method of ['POST', 'PUT', 'OPTIONS', 'DELETE'])
      expect(await ask(method, path, http), `${method} ${path}`).toEqual(refused);
  for (const secret of [{ authorization: 'Bearer a.b.c' }, { cookie: 'session=a' }, { authorization: '' }])
    for (const path of ['/api/events', '/login', '/nowhere'])
      expect(await ask('GET', path, { ...http, ...secret }), path).toEqual(refused);
});

test('a redirect carries what every answer does, and no byte of the path ends a header [R28.3]', async () => {
  const head = 'Host: x\r\nX-Forwarded-Proto: http\r\nConnection: close';
  const answer = await gateway.raw(`GET /a%0d%0aset-cookie:x HTTP/1.1\r\n${head}\r\n\r\n`);
  expect(answer).toMatch(/^HTTP\/1.1 308 /);
  expect(answer).toMatch(/\r\nlocation: https:\/\/exchange\.test\/a%0d%0aset-cookie:x\r\n/);
  for (const header of ['x-request-id: 0', 'x-content-type-options: nosniff', 'strict-transport-security: '])
    expect(answer).toContain(`\r\n${header}`);
});

test('the request is served without such a header, or by https [R28.4]', async () => {
  expect((await ask('GET', discovery)).status).toBe(200);
  for (const said of ['https', 'http, https', ''])
    expect((await ask('GET', discovery, { 'x-forwarded-proto': said })).status).toBe(200);
});

test.each<[what: string, options: ServedOptions]>([
  ['no proxy is trusted', { trustedProxies: [] }],
  ['another one is trusted', { trustedProxies: ['10.0.0.0/8'] }],
  ['the issuer is http', { issuer: 'http://exchange.test' }],
])('the header counts for nothing where %s [R28.4]', async (_what, options) => {
  const other = await serveGateway({ issuer, trustedProxies: here, ...options });
  onTestFinished(other.close);
  expect((await other.ask('GET', discovery, http)).status).toBe(200);
});

test('an address is trusted by itself, in its network, and mapped into IPv6', () => {
  const trusts = trustedProxy(['192.0.2.1', '10.0.0.0/8', 'fd00::/16', '::1']);
  for (const address of ['192.0.2.1', '10.9.8.7', '::ffff:10.9.8.7', 'fd00::1', '::1'])
    expect(trusts(address), address).toBe(true);
  for (const address of ['192.0.2.2', '11.0.0.1', 'fd01::1', '::2', 'nonsense', '', '10.1', '[::1]'])
    expect(trusts(address), address).toBe(false);
});
