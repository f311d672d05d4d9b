// One use of an authorization code and of a refresh token, what a replay revokes (R10.2), and what is left of them when
// Redis does not answer.
import { decodeJwt } from 'jose';
import { expect, test } from 'vitest';
import { tokensOf } from '../support/flow.ts';
import { type Answer, send } from '../support/http.ts';
import { ownStopwatch } from '../support/own-time.ts';
import {
  api,
  exchange,
  full,
  grant,
  issuer,
  oidc,
  partnerFor,
  refresh,
  stack,
  tokensFor,
  twinPartner,
} from './deployment.ts';
import { expectError } from './expectations.ts';

test('a second use of a code is invalid_grant and revokes its refresh token, not its access token [R10.1 R10.2 R10.3 S3.code.5 S5.flow.2 S3.access.2]', async () => {
  const given = await grant();
  const tokens = tokensOf(await exchange(given));
  const successor = tokensOf(await refresh(full, tokens.refresh_token));
  expectError(await exchange(given), 400, 'invalid_grant');
  expectError(await refresh(full, successor.refresh_token), 400, 'invalid_grant');
  expect((await api('/api/events', tokens.access_token)).status).toBe(200);
  expectError(await exchange(given), 400, 'invalid_grant');
});

test('a used code alone, from a browser’s history or of another client, changes nothing [R10.1 R10.4 R11.1]', async () => {
  const given = await grant();
  const tokens = tokensOf(await exchange(given));
  const twin = { ...given, partner: twinPartner() };
  for (const changes of [{ redirect_uri: `${given.redirectUri}/` }, { code_verifier: 'a'.repeat(43) }])
    expectError(await exchange(given, changes), 400, 'invalid_grant');
  expectError(await exchange(given, { code_verifier: '' }), 400, 'invalid_grant');
  expectError(await exchange(twin), 400, 'invalid_grant');
  expect((await refresh(full, tokens.refresh_token)).status).toBe(200);
});

test('failed attempts consume nothing [R9.1 R2.6 S3.code.2]', async () => {
  const given = await grant();
  expectError(await exchange({ ...given, partner: twinPartner() }), 400, 'invalid_grant');
  expectError(await exchange({ ...given, partner: { ...full, clientSecret: 'x' } }), 401, 'invalid_client');
  expectError(await exchange(given, { redirect_uri: `${given.redirectUri}/` }), 400, 'invalid_grant');
  expectError(await exchange(given, { redirect_uri: undefined }), 400, 'invalid_request');
  for (const secret of [`${given.code.slice(22, -1)}!`, 'x'.repeat(43)])
    expectError(await exchange(given, { code: given.code.slice(0, 22) + secret }), 400, 'invalid_grant');
  expectError(await exchange(given, { code_verifier: 'a'.repeat(43) }), 400, 'invalid_grant');
  expectError(await exchange(given, { grant_type: 'code' }), 400, 'unsupported_grant_type');
  expect((await exchange(given)).status).toBe(200);
});

test('one of five exchanges at once wins; the others are replays and revoke its refresh token [R9.2 R10.2 R10.3]', async () => {
  const given = await grant();
  const answers = await Promise.all(Array.from({ length: 5 }, () => exchange(given)));
  const [winner, ...losers] = answers.toSorted((one, other) => one.status - other.status);
  const tokens = tokensOf(winner as Answer);
  for (const loser of losers) expectError(loser, 400, 'invalid_grant');
  expectError(await refresh(full, tokens.refresh_token), 400, 'invalid_grant');
  expect((await api('/api/events', tokens.access_token)).status).toBe(200);
});

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

test('no ID token comes without openid, and no resource can be read [S3.code.3 S4.token.7 R21.2 S5.api.2]', async () => {
  const partner = partnerFor('email', 'profile');
  const tokens = await tokensFor({ partner });
  expect(tokens).not.toHaveProperty('id_token');
  expect(tokens.scope).toBe('email profile');
  expectError(await api('/api/events', tokens.access_token), 401, 'invalid_token');
  expect(tokensOf(await refresh(partner, tokens.refresh_token)).scope).toBe('email profile');
});

const redis = stack.processes?.redis;

async function expectUnavailable(ask: () => Promise<Answer>): Promise<void> {
  const elapsed = ownStopwatch();
  const answer = await ask();
  expect([answer.status, answer.text]).toEqual([503, '{"error":"temporarily_unavailable"}']);
  expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  expect(elapsed()).toBeLessThan(2_000);
}

test.skipIf(redis === undefined)(
  'while Redis is stalled tokens are 503 within 2 s and good afterwards; reads and keys go on [R14.1 R14.2 R14.3]',
  async () => {
    const [code, tokens] = [await grant(), await tokensFor()];
    process.kill(redis ?? 0, 'SIGSTOP');
    try {
      await expectUnavailable(() => exchange(code));
      await expectUnavailable(() => refresh(full, tokens.refresh_token));
      expect((await api('/api/events', tokens.access_token)).status).toBe(200);
      for (const url of [`${issuer}/.well-known/openid-configuration`, oidc.jwks_uri])
        expect((await send(url)).status).toBe(200);
    } finally {
      process.kill(redis ?? 0, 'SIGCONT');
    }
    await expect.poll(async () => (await exchange(code)).status).toBe(200);
    await expect.poll(async () => (await refresh(full, tokens.refresh_token)).status).toBe(200);
  },
);
