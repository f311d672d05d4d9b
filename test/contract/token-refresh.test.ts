// Rotation, reuse and narrowing of refresh tokens (R11, R12).
import { decodeJwt } from 'jose';
import { expect, test } from 'vitest';
import { tokensOf } from '../support/flow.ts';
import { api, full, partnerFor, refresh, storeTest, tokensFor, twinPartner } from './deployment.ts';
import { expectError } from './expectations.ts';
import { redis } from './throwaway.ts';

test('a refresh gives new access and refresh tokens and no ID token [S3.refresh.1 S3.refresh.2 S4.token.5 S4.token.7 S1.2]', async () => {
  const first = await tokensFor();
  const answer = await refresh(full, first.refresh_token);
  const second = tokensOf(answer);
  expect(Object.keys(second).sort()).toEqual([
    'access_token',
    'expires_in',
    'refresh_token',
    'scope',
    'token_type',
  ]);
  expect(second).toMatchObject({ token_type: 'Bearer', expires_in: 900, scope: first.scope });
  expect(second.refresh_token).not.toBe(first.refresh_token);
  expect(second.access_token).not.toBe(first.access_token);
  expect(answer.headers).toMatchObject({ 'cache-control': 'no-store', pragma: 'no-cache' });
  expect((await api('/api/events', second.access_token)).status).toBe(200);
});

test('reuse is invalid_grant at once, again and again; the successor stays valid [R11.2 R11.3 S3.refresh.4 S3.refresh.5]', async () => {
  const first = await tokensFor();
  const second = tokensOf(await refresh(full, first.refresh_token));
  for (let time = 0; time < 3; time++)
    expectError(await refresh(full, first.refresh_token), 400, 'invalid_grant');
  const third = tokensOf(await refresh(full, second.refresh_token));
  expectError(await refresh(full, second.refresh_token), 400, 'invalid_grant');
  expect((await refresh(full, third.refresh_token)).status).toBe(200);
  expect((await api('/api/events', first.access_token)).status).toBe(200);
});

test('another client gets invalid_grant; nothing is consumed or revoked [R11.1]', async () => {
  const { refresh_token } = await tokensFor();
  expectError(await refresh(twinPartner(), refresh_token), 400, 'invalid_grant');
  const next = tokensOf(await refresh(full, refresh_token));
  expectError(await refresh(twinPartner(), refresh_token), 400, 'invalid_grant');
  expect((await refresh(full, next.refresh_token)).status).toBe(200);
});

test('scope narrows this access token only [R12.1]', async () => {
  const first = await tokensFor();
  const narrow = tokensOf(await refresh(full, first.refresh_token, { scope: 'openid' }));
  expect(narrow.scope).toBe('openid');
  expect(decodeJwt(narrow.access_token).scope).toBe('openid');
  const wide = tokensOf(await refresh(full, narrow.refresh_token));
  expect(wide.scope).toBe(first.scope);
  const without = tokensOf(await refresh(full, wide.refresh_token, { scope: 'email' }));
  expectError(await api('/api/events', without.access_token), 401, 'invalid_token');
});

test('a scope beyond the grant is invalid_scope, and nothing is consumed [R12.2 S7.code.3]', async () => {
  const { refresh_token } = await tokensFor({ parameters: { scope: 'openid' } });
  for (const scope of ['openid email', 'email', 'openid everything', ' ']) {
    expectError(await refresh(full, refresh_token, { scope }), 400, 'invalid_scope', scope);
  }
  expect(tokensOf(await refresh(full, refresh_token, { scope: '' })).scope).toBe('openid');
});

test('without openid no ID token comes, and no resource can be read [S3.code.3 S4.token.7 R21.2 S5.api.2]', async () => {
  const partner = partnerFor('email', 'profile');
  const tokens = await tokensFor({ partner });
  expect(tokens).not.toHaveProperty('id_token');
  expect(tokens.scope).toBe('email profile');
  expectError(await api('/api/events', tokens.access_token), 401, 'invalid_token');
  expect(tokensOf(await refresh(partner, tokens.refresh_token)).scope).toBe('email profile');
});

storeTest(
  'each refresh starts thirty new days, without a cap [S3.refresh.3 S5.lifetime.3 S8.5 R11.4]',
  async () => {
    // The key outlives its token by a week (R33.3).
    const week = 7 * 24 * 3_600;
    const kept = 30 * 24 * 3_600 + week;
    const first = await tokensFor();
    const key = `rt:{${first.refresh_token.slice(0, 22)}}`;
    expect(await redis().ttl(key)).toBeGreaterThan(kept - 10);
    await redis().expire(key, week + 60);
    const second = tokensOf(await refresh(full, first.refresh_token));
    const left = await redis().ttl(key);
    expect(left).toBeGreaterThan(kept - 10);
    expect(left).toBeLessThanOrEqual(kept);
    await redis().expire(key, week);
    expectError(await refresh(full, second.refresh_token), 400, 'invalid_grant');
  },
);
