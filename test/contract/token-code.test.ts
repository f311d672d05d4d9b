// One use of an authorization code, and what a replay revokes (R9, R10).
import { expect, test } from 'vitest';
import { tokensOf } from '../support/flow.ts';
import type { Answer } from '../support/http.ts';
import { api, exchange, full, grant, refresh, storeTest, twinPartner } from './deployment.ts';
import { expectError } from './expectations.ts';
import { redis } from './throwaway.ts';

test('a second use is invalid_grant and revokes the descended refresh token; access tokens live on [R10.1 R10.2 R10.3 S3.code.5 S5.flow.2 S3.access.2]', async () => {
  const given = await grant();
  const tokens = tokensOf(await exchange(given));
  expectError(await exchange(given), 400, 'invalid_grant');
  expectError(await refresh(full, tokens.refresh_token), 400, 'invalid_grant');
  expect((await api('/api/events', tokens.access_token)).status).toBe(200);
  expectError(await exchange(given), 400, 'invalid_grant');
});

test('a replay revokes the successors of the refresh token too [R10.2]', async () => {
  const given = await grant();
  const first = tokensOf(await exchange(given));
  const second = tokensOf(await refresh(full, first.refresh_token));
  expectError(await exchange(given), 400, 'invalid_grant');
  expectError(await refresh(full, second.refresh_token), 400, 'invalid_grant');
});

test('a replay by another client revokes nothing [R10.2 R11.1]', async () => {
  const given = await grant();
  const tokens = tokensOf(await exchange(given));
  expectError(await exchange({ ...given, partner: twinPartner() }), 400, 'invalid_grant');
  expect((await refresh(full, tokens.refresh_token)).status).toBe(200);
});

test('a used code alone, from a browser’s history, changes nothing [R10.1 R10.4]', async () => {
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

test('one of five exchanges at once wins; the others are replays and revoke its refresh token, not its access token [R9.2 R10.2 R10.3]', async () => {
  const given = await grant();
  const answers = await Promise.all(Array.from({ length: 5 }, () => exchange(given)));
  const [winner, ...losers] = answers.toSorted((one, other) => one.status - other.status);
  const tokens = tokensOf(winner as Answer);
  for (const loser of losers) expectError(loser, 400, 'invalid_grant');
  expectError(await refresh(full, tokens.refresh_token), 400, 'invalid_grant');
  expect((await api('/api/events', tokens.access_token)).status).toBe(200);
});

storeTest('a code lives five minutes and not longer [S3.code.4 S8.3 S3.code.1 S5.flow.2]', async () => {
  const given = await grant();
  const key = `code:{${given.code.slice(0, 22)}}`;
  const left = await redis().pttl(key);
  expect(left).toBeGreaterThan(290_000);
  expect(left).toBeLessThanOrEqual(300_000);
  await redis().pexpire(key, 1);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expectError(await exchange(given), 400, 'invalid_grant');
});
