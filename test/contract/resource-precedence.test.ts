// Which answer comes first at the resource API: route, method, token, event (R20.1).
import { describe, expect, test } from 'vitest';
import { type Answer, send } from '../support/http.ts';
import { accessTokenOf, issuer, oidc, tokensFor, typical } from './deployment.ts';
import { expectError } from './expectations.ts';

const methods = ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'];
const routes = [
  '/api/events',
  '/api/events/QUJD/designs',
  '/api/events/not%20ours/designs',
  '/api/events/%ff/designs',
];
const unknown = [
  '/api/events/',
  '/api/events//designs',
  '/api/events/QUJD/designs/',
  '/api/events/%zz/designs',
  '/api/events/%E0%A4%A/designs',
  '/api/%ff',
  '/api//events',
  '/API/events',
  '/api',
  '/api/events%2f',
];

async function tokens(): Promise<readonly (string | undefined)[]> {
  return [undefined, 'nonsense', await accessTokenOf(typical)];
}

function ask(path: string, method: string, token: string | undefined): Promise<Answer> {
  return send(`${issuer}${path}`, {
    method,
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  });
}

describe('an unknown route is 404 before method and token [R20.1 R20.2 S4.resource.8 S7.api.2]', () => {
  test.each(unknown)('%s', async (path) => {
    for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS', 'PROPFIND']) {
      for (const token of await tokens())
        expectError(await ask(path, method, token), 404, 'not_found', method);
    }
    const head = await ask(path, 'HEAD', await accessTokenOf(typical));
    expect([head.status, head.text]).toEqual([404, '']);
  });
});

describe('a known route: method before token, token before event [R20.1 R20.3 R20.7 S4.resource.0 S4.resource.8 S7.api.3 S1.3]', () => {
  test.each(routes)('%s', async (path) => {
    for (const token of await tokens()) {
      for (const method of methods) {
        const answer = await ask(path, method, token);
        expectError(answer, 405, 'method_not_allowed', method);
        expect(answer.headers.allow).toBe('GET');
      }
      const head = await ask(path, 'HEAD', token);
      expect([head.status, head.text, head.headers.allow]).toEqual([405, '', 'GET']);
    }
    for (const token of [undefined, 'nonsense'])
      expectError(await ask(path, 'GET', token), 401, 'invalid_token');
  });
});

test('an id that is not ours is an event 404 [R20.3 R20.7 S4.resource.6 S7.api.2]', async () => {
  const token = await accessTokenOf(typical);
  const ids = ['QUJD', 'QR', 'QUJD=', '%00', '_w', '%2F', '%ff', '%ED%A0%80', 'QUJD'.repeat(400), '%25zz'];
  for (const id of ids)
    expectError(await ask(`/api/events/${id}/designs`, 'GET', token), 404, 'not_found', id);
});

test('401 says Bearer, and invalid_token when a token was sent [R21.1 S5.api.1 S5.api.3 S7.api.1 S7.code.9]', async () => {
  for (const path of routes) {
    const none = await ask(path, 'GET', undefined);
    expectError(none, 401, 'invalid_token');
    expect(none.headers['www-authenticate']).toBe('Bearer');
    const token = await accessTokenOf(typical);
    const sent = ['Bearer nonsense', 'Bearer a.b.c', `Bearer ${token}x`, `Bearer ${token} ${token}`];
    for (const authorization of sent) {
      const answer = await send(`${issuer}${path}`, { headers: { authorization } });
      expectError(answer, 401, 'invalid_token', authorization.slice(0, 20));
      expect(answer.headers['www-authenticate']).toBe('Bearer error="invalid_token"');
    }
    for (const authorization of ['Bearer', 'Bearer ', 'Basic abc', `Token ${token}`, token]) {
      const answer = await send(`${issuer}${path}`, { headers: { authorization } });
      expectError(answer, 401, 'invalid_token', authorization.slice(0, 20));
      expect(answer.headers['www-authenticate']).toMatch(/^Bearer/);
    }
  }
});

test('an ID token, a refresh token and a code call no API [S5.api.5 R16.3 S5.api.2]', async () => {
  const { id_token = '', refresh_token } = await tokensFor();
  for (const token of [id_token, refresh_token]) {
    expectError(await ask('/api/events', 'GET', token), 401, 'invalid_token');
  }
});

test('a token in the query string, body or a cookie is ignored [R20.5 S5.api.1]', async () => {
  const token = await accessTokenOf(typical);
  const answer = await send(`${issuer}/api/events?access_token=${token}`, {
    headers: { cookie: `access_token=${token}` },
  });
  expectError(answer, 401, 'invalid_token');
  expect(answer.headers['www-authenticate']).toBe('Bearer');
});

test('query parameters change nothing [R20.4 S4.resource.3 S8.6 S1.10]', async () => {
  const token = await accessTokenOf(typical);
  const plain = await ask('/api/events', 'GET', token);
  const [event] = plain.json().items as { id: string }[];
  const designs = `/api/events/${event?.id}/designs`;
  const all = await ask(designs, 'GET', token);
  for (const query of ['limit=1&page=2&sort=name', 'a=1&a=2', '%zz', 'access_token=x', '']) {
    expect((await ask(`/api/events?${query}`, 'GET', token)).text, query).toBe(plain.text);
    expect((await ask(`${designs}?${query}`, 'GET', token)).text, query).toBe(all.text);
  }
});

test('no CORS header anywhere, and no preflight answered [R20.6 S4.resource.7]', async () => {
  const headers = {
    origin: 'https://app.example',
    'access-control-request-method': 'GET',
    'access-control-request-headers': 'authorization',
  };
  const urls = [
    `${issuer}/api/events`,
    `${issuer}/none`,
    `${issuer}/.well-known/openid-configuration`,
    oidc.jwks_uri,
    oidc.token_endpoint,
    oidc.userinfo_endpoint,
    oidc.authorization_endpoint,
  ];
  for (const url of urls) {
    for (const method of ['GET', 'OPTIONS', 'POST']) {
      const answer = await send(url, { method, headers });
      expect(
        Object.keys(answer.headers).filter((name) => name.startsWith('access-control')),
        url,
      ).toEqual([]);
      if (method === 'OPTIONS') expect(answer.status, url).toBeGreaterThanOrEqual(400);
    }
  }
});
