// What stands in the tokens, and what discovery and the key set say about them (specification §2).
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, type JSONWebKeySet, jwtVerify } from 'jose';
import { expect, test } from 'vitest';
import { tokensOf } from '../support/flow.ts';
import { send } from '../support/http.ts';
import {
  browserOf,
  exchange,
  full,
  grant,
  issuer,
  oidc,
  orNone,
  partnerFor,
  refresh,
  stack,
  tokensFor,
  typical,
  userWho,
} from './deployment.ts';

const keySet = async () => createLocalJWKSet((await send(oidc.jwks_uri)).json() as never as JSONWebKeySet);

test('ID token: exactly the claims, RS256, 15 minutes, verified by the key set [S2.token.1 R15.2 S5.flow.3 S5.lifetime.1 S4.jwks.1 S8.4 S5.flow.4]', async () => {
  const given = await grant();
  const { id_token = '' } = tokensOf(await exchange(given));
  const { payload, protectedHeader } = await jwtVerify(id_token, await keySet(), {
    issuer,
    audience: full.clientId,
    algorithms: ['RS256'],
    clockTolerance: 5,
  });
  const { iat = 0, exp = 0, ...claims } = payload;
  expect(claims).toEqual({
    iss: issuer,
    sub: typical.sub,
    aud: full.clientId,
    email: typical.email,
    email_verified: true,
    name: typical.name,
    token_use: 'id_token',
    nonce: given.nonce,
  });
  expect(exp - iat).toBe(900);
  expect(protectedHeader.kid).toBeTypeOf('string');
});

test('nonce stands in the ID token only if it was sent, and comes back exactly [R15.2 S5.enforce.1]', async () => {
  const none = await tokensFor({ parameters: { nonce: undefined } });
  expect(decodeJwt(none.id_token ?? '')).not.toHaveProperty('nonce');
  const odd = 'a+b %20 ü💥"\\';
  expect(decodeJwt((await tokensFor({ parameters: { nonce: odd } })).id_token ?? '').nonce).toBe(odd);
});

test('access token: typ at+jwt, exactly the claims, 15 minutes [S2.token.2 R15.1 S5.lifetime.2 S8.4 S3.access.1]', async () => {
  const first = await tokensFor({ parameters: { scope: 'profile openid' } });
  const second = tokensOf(await refresh(full, first.refresh_token));
  const seen = new Set<unknown>();
  for (const token of [first.access_token, second.access_token]) {
    const { payload, protectedHeader } = await jwtVerify(token, await keySet(), {
      issuer,
      audience: 'design-api',
      clockTolerance: 5,
    });
    expect(protectedHeader).toEqual({
      typ: 'at+jwt',
      alg: expect.stringMatching(/^(ES|RS)256$/),
      kid: expect.any(String),
    });
    const { iat = 0, exp = 0, jti, scope, ...claims } = payload;
    expect(claims).toEqual({
      iss: issuer,
      aud: 'design-api',
      sub: typical.sub,
      client_id: full.clientId,
      token_use: 'access_token',
    });
    expect(String(scope).split(' ').sort()).toEqual(['openid', 'profile']);
    expect(exp - iat).toBe(900);
    seen.add(jti);
  }
  expect(seen.size).toBe(2);
});

test('e-mail and name are in the ID token whatever the scopes [S5.scope.2 S2.token.1]', async () => {
  const partner = partnerFor('openid');
  const claims = decodeJwt((await tokensFor({ partner })).id_token ?? '');
  expect(claims).toMatchObject({ email: typical.email, name: typical.name, email_verified: true });
});

test('names in any script and an unverified e-mail come out as they are [S2.token.1]', async () => {
  const remarkable = stack.users.filter(({ about }) => /script|unverified/.test(about));
  for (const user of orNone(remarkable, 'user with a name in another script or an unverified e-mail')) {
    const claims = decodeJwt((await tokensFor({ user, agent: browserOf(user) })).id_token ?? '');
    expect(claims).toMatchObject({ email: user.email, name: user.name, sub: user.sub });
    expect(claims.email_verified).toBe(!user.about.includes('unverified'));
  }
});

test('sub is opaque, the same for every partner, and never the e-mail [R19.1 S5.flow.4]', async () => {
  for (const user of [typical, userWho('no designs')]) {
    const subs = new Set<unknown>();
    for (const partner of [full, partnerFor('openid')]) {
      subs.add(decodeJwt((await tokensFor({ user, partner })).access_token).sub);
    }
    expect([...subs]).toEqual([user.sub]);
    expect(user.sub).not.toContain('@');
    expect(user.sub).not.toContain(user.email.split('@')[0]);
  }
});

test('the key set holds public keys only, each with kid and alg; the first keys sign at once [S4.jwks.1 R17.3 R16.2]', async () => {
  const { keys } = (await send(oidc.jwks_uri)).json() as { keys: Record<string, string>[] };
  for (const key of keys) {
    for (const part of ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k']) expect(key).not.toHaveProperty(part);
    expect(key).toMatchObject({
      kid: expect.any(String),
      alg: expect.stringMatching(/^(ES|RS)256$/),
      use: 'sig',
    });
  }
  const kids = keys.map((key) => key.kid);
  expect(new Set(kids).size).toBe(kids.length);
  const { id_token = '', access_token } = await tokensFor();
  for (const token of [id_token, access_token]) expect(kids).toContain(decodeProtectedHeader(token).kid);
});
