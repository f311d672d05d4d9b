// The discovery document and what it must not offer (specification §4, §5).
import { expect, test } from 'vitest';
import { type Answer, send } from '../support/http.ts';
import { full, issuer, oidc, tokensFor } from './deployment.ts';
import { expectError, protocolWords } from './expectations.ts';

const address = `${issuer}/.well-known/openid-configuration`;

test('the document publishes what the specification lists [S4.discovery.1 S4.discovery.2 S4.discovery.3 S4.discovery.4 S4.discovery.5 S5.enforce.2 S1.2]', async () => {
  const answer = await send(address, { headers: { accept: 'application/json' } });
  expect(answer.status).toBe(200);
  expect(answer.headers['content-type']).toMatch(/^application\/json/);
  const lists = Object.fromEntries(
    Object.entries(answer.json()).map(([name, value]) => [
      name,
      Array.isArray(value) ? [...value].sort() : value,
    ]),
  );
  expect(lists).toMatchObject({
    response_types_supported: ['code'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    id_token_signing_alg_values_supported: ['RS256'],
    code_challenge_methods_supported: ['S256', 'plain'],
    scopes_supported: ['email', 'openid', 'profile'],
    claims_supported: expect.arrayContaining(['email', 'email_verified', 'name', 'sub']),
    subject_types_supported: ['public'],
  });
});

test('issuer is the configured one, whatever Host or forwarding headers say [S4.discovery.6 R28.2]', async () => {
  expect(oidc.issuer).toBe(issuer);
  const forwarded = {
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'https',
    forwarded: 'host=evil.example',
  };
  for (const headers of [forwarded, { ...forwarded, host: 'evil.example' }]) {
    const answer = await send(address, { headers });
    if (answer.status === 200) expect(answer.json()).toEqual(oidc);
    expect(answer.text).not.toContain('evil.example');
  }
});

test('every address lies under the issuer and answers [S0.1 S4.jwks.1]', async () => {
  for (const name of ['authorization_endpoint', 'token_endpoint', 'userinfo_endpoint', 'jwks_uri']) {
    const url = String(oidc[name]);
    expect(url.startsWith(`${issuer}/`), url).toBe(true);
    expect((await send(url)).status, url).not.toBe(404);
  }
});

test('discovery and key set answer GET and HEAD, cached for 300 s [R17.4 R31.1]', async () => {
  for (const url of [address, oidc.jwks_uri]) {
    const [get, head] = [await send(url), await send(url, { method: 'HEAD' })];
    for (const answer of [get, head]) {
      expect(answer.status).toBe(200);
      expect(answer.headers['cache-control']).toBe('public, max-age=300');
    }
    expect(head.text).toBe('');
    expect(head.headers['content-type']).toBe(get.headers['content-type']);
  }
});

test('no revocation, introspection, registration, end-session, device or other endpoint [S5.absent.1 S1.4 R29.4]', async () => {
  const absent = [
    'revocation',
    'introspection',
    'registration',
    'end_session',
    'device_authorization',
    'pushed_authorization_request',
  ];
  for (const name of absent) expect(oidc).not.toHaveProperty(`${name}_endpoint`);
  for (const name of ['check_session_iframe', 'backchannel_logout_supported'])
    expect(oidc).not.toHaveProperty(name);
  for (const path of [
    '/revoke',
    '/revocation',
    '/introspect',
    '/register',
    '/end-session',
    '/logout',
    '/device',
    '/par',
  ]) {
    for (const method of ['GET', 'POST']) {
      expectError(await send(`${issuer}${path}`, { method }), 404, 'not_found', `${method} ${path}`);
    }
  }
});

test('no webhooks, no change feed, no version in paths or headers, no single design [S6.1 S9.1 S1.7 S1.6]', async () => {
  const { access_token } = await tokensFor({ partner: full });
  const headers = { authorization: `Bearer ${access_token}` };
  const paths = [
    '/api',
    '/api/',
    '/api/v1/events',
    '/v1/api/events',
    '/api/webhooks',
    '/api/changes',
    '/api/designs',
    '/api/designs/1',
    '/api/events/x/designs/1',
    '/api/me',
    '/api/events/x',
  ];
  for (const path of paths) expectError(await send(`${issuer}${path}`, { headers }), 404, 'not_found', path);
  const answer: Answer = await send(`${issuer}/api/events`, { headers });
  expect(Object.keys(answer.headers).join()).not.toMatch(/version|etag|link|last-modified/);
});

const chromium = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8';

test('the address alone is a page for a browser, and 404 not_found for whatever else [R20.1]', async () => {
  for (const accept of [chromium, 'text/*', 'application/json;q=0.9, TEXT/HTML']) {
    const opened = await send(`${issuer}/?utm=1`, { headers: { accept, 'accept-language': 'de' } });
    expect([opened.status, opened.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
    expect(opened.text).toContain('Anmeldedienst');
    expect(opened.text).not.toMatch(protocolWords);
    const head = await send(`${issuer}/`, { method: 'HEAD', headers: { accept } });
    expect([head.status, head.headers['content-type'], head.text]).toEqual([
      404,
      'text/html; charset=utf-8',
      '',
    ]);
  }
  const json = [
    '*/*',
    'application/json',
    'application/json, text/html',
    'text/html;q=0, */*',
    'text/html;q=x',
  ];
  for (const accept of json)
    expectError(await send(`${issuer}/`, { headers: { accept } }), 404, 'not_found', accept);
  expectError(await send(`${issuer}/`), 404, 'not_found');
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'])
    expectError(
      await send(`${issuer}/`, { method, headers: { accept: chromium } }),
      404,
      'not_found',
      method,
    );
  for (const path of ['//', '/index.html', '/favicon.ico', '/api', '/%2F', '/.'])
    expectError(await send(issuer + path, { headers: { accept: chromium } }), 404, 'not_found', path);
  const direct = await send(oidc.authorization_endpoint, { headers: { accept: chromium } });
  expectError(direct, 400, 'invalid_client');
});
