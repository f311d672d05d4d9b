// User-info (R26, specification §4).
import { describe, expect, test } from 'vitest';
import { type Fields, send } from '../support/http.ts';
import { accessTokenOf, oidc, partnerFor, tokensFor, typical, userWho } from './deployment.ts';
import { expectError } from './expectations.ts';

const endpoint = oidc.userinfo_endpoint;
const bearer = (token: string) => ({ authorization: `Bearer ${token}`, accept: 'application/json' });

test('GET and POST answer with the four members [S4.userinfo.1 S2.token.3 R26.1]', async () => {
  const headers = bearer(await accessTokenOf(typical));
  for (const method of ['GET', 'POST']) {
    const answer = await send(endpoint, { method, headers });
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toMatch(/^application\/json/);
    expect(answer.json()).toEqual({
      sub: typical.sub,
      email: typical.email,
      email_verified: true,
      name: typical.name,
    });
  }
});

test('an unverified e-mail is said to be so [S4.userinfo.1]', async () => {
  const user = userWho('unverified');
  const answer = await send(endpoint, { headers: bearer(await accessTokenOf(user)) });
  expect(answer.json()).toMatchObject({ sub: user.sub, email_verified: false });
});

test('openid alone is enough; without it 401 [S4.userinfo.2 S5.scope.2 R26.2 R21.2]', async () => {
  const openid = await tokensFor({ partner: partnerFor('openid') });
  const answer = await send(endpoint, { headers: bearer(openid.access_token) });
  expect(answer.json()).toMatchObject({ email: typical.email, name: typical.name });
  const without = await tokensFor({ partner: partnerFor('email', 'profile') });
  expectError(await send(endpoint, { headers: bearer(without.access_token) }), 401, 'invalid_token');
});

describe('anything else is the 401 of the resource API [R26.2 R21.1 S5.api.5 S7.code.9]', () => {
  test('no token', async () => {
    for (const method of ['GET', 'POST']) {
      const answer = await send(endpoint, { method });
      expectError(answer, 401, 'invalid_token');
      expect(answer.headers['www-authenticate']).toBe('Bearer');
    }
  });

  test('an ID token, a refresh token, nonsense', async () => {
    const tokens = await tokensFor();
    for (const token of [tokens.id_token ?? '', tokens.refresh_token, 'nonsense', 'a.b.c']) {
      const answer = await send(endpoint, { headers: bearer(token) });
      expectError(answer, 401, 'invalid_token');
      expect(answer.headers['www-authenticate']).toBe('Bearer error="invalid_token"');
    }
  });

  test('a token in the query string, or in a body that is no form or not of a POST', async () => {
    const token = await accessTokenOf(typical);
    expectError(await send(`${endpoint}?access_token=${token}`), 401, 'invalid_token');
    expectError(await send(endpoint, { method: 'GET', form: { access_token: token } }), 401, 'invalid_token');
    const text = { 'content-type': 'text/plain' };
    const answer = await send(endpoint, { form: { access_token: token }, headers: text });
    expectError(answer, 401, 'invalid_token');
  });
});

describe('POST takes the token in a form body too [R26.3]', () => {
  const post = (form: Fields, headers = {}) => send(endpoint, { form, headers });

  test('as it takes it in the header', async () => {
    const access_token = await accessTokenOf(typical);
    const answer = await post({ access_token });
    expect([answer.status, answer.json().sub]).toEqual([200, typical.sub]);
    expect((await post({ other: 'x' }, bearer(access_token))).status).toBe(200);
  });

  test('one that does not hold is the 401 of a token that was sent', async () => {
    for (const access_token of ['nonsense', 'a b', '\u00e9']) {
      const answer = await post({ access_token });
      expectError(answer, 401, 'invalid_token');
      expect(answer.headers['www-authenticate']).toBe('Bearer error="invalid_token"');
    }
    const none = await post({ access_token: '' });
    expectError(none, 401, 'invalid_token');
    expect(none.headers['www-authenticate']).toBe('Bearer');
  });

  test('more than one is invalid_request: in header and body, or twice in the body', async () => {
    const access_token = await accessTokenOf(typical);
    expectError(await post({ access_token }, bearer(access_token)), 400, 'invalid_request');
    const twice = ['access_token', access_token] as const;
    expectError(await post([twice, twice]), 400, 'invalid_request');
  });
});
