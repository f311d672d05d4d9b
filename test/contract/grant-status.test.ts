// What changed since the grant is honoured at the exchange and on refresh.
import { expect } from 'vitest';
import { tokensOf } from '../support/flow.ts';
import { send } from '../support/http.ts';
import { api, exchange, freshBrowser, grant, oidc, refresh, storeTest as test } from './deployment.ts';
import { expectError } from './expectations.ts';
import { sql, throwawayPartner, throwawayUser } from './throwaway.ts';

/** A code that is not exchanged yet, and the tokens of another one. */
async function liveGrant() {
  const [user, partner, agent] = [await throwawayUser(), await throwawayPartner(), freshBrowser()];
  const tokens = tokensOf(await exchange(await grant({ user, partner, agent })));
  const code = await grant({ user, partner, agent });
  return { user, partner, agent, code, refreshToken: tokens.refresh_token, accessToken: tokens.access_token };
}

test('a deactivated client is invalid_client; set right again, nothing was lost [R13.1 S7.code.1]', async () => {
  const { partner, code, refreshToken } = await liveGrant();
  await sql('update identity.clients set active = false where client_id = $1', partner.clientId);
  expectError(await exchange(code), 401, 'invalid_client');
  expectError(await refresh(partner, refreshToken), 401, 'invalid_client');
  await sql('update identity.clients set active = true where client_id = $1', partner.clientId);
  expect((await exchange(code)).status).toBe(200);
  expect((await refresh(partner, refreshToken)).status).toBe(200);
});

test('a disabled user gets no user-info; the access token stays good for the resource API [R13.7 S3.access.2]', async () => {
  const { user, accessToken } = await liveGrant();
  const ask = () => send(oidc.userinfo_endpoint, { headers: { authorization: `Bearer ${accessToken}` } });
  expect((await ask()).status).toBe(200);
  await sql('update identity.users set disabled_at = now() where sub = $1', user.sub);
  expectError(await ask(), 401, 'invalid_token');
  expect((await api('/api/events', accessToken)).status).toBe(200);
  await sql('delete from identity.users where sub = $1', user.sub);
  expectError(await ask(), 401, 'invalid_token');
});

test('a withdrawn consent is invalid_grant, also after consent is given again [R13.3 R13.4]', async () => {
  const { user, partner, agent, code, refreshToken } = await liveGrant();
  const withdraw = 'update identity.consents set withdrawn_at = now() where sub = $1 and client_id = $2';
  await sql(withdraw, user.sub, partner.clientId);
  expectError(await exchange(code), 400, 'invalid_grant');
  const renewed = await grant({ user, partner, agent });
  expectError(await exchange(code), 400, 'invalid_grant');
  // Not presented before consent was given again.
  expectError(await refresh(partner, refreshToken), 400, 'invalid_grant');
  expect((await exchange(renewed)).status).toBe(200);
});

test('reduced scopes give the intersection until they are given back; an empty one is invalid_scope [R13.8 R13.9]', async () => {
  const { partner, code, refreshToken } = await liveGrant();
  const approve = 'update identity.clients set scopes = $2 where client_id = $1';
  await sql(approve, partner.clientId, ['openid', 'email']);
  const exchanged = tokensOf(await exchange(code));
  const refreshed = tokensOf(await refresh(partner, refreshToken));
  expect([exchanged.scope, refreshed.scope]).toEqual(['openid email', 'openid email']);
  await sql(approve, partner.clientId, partner.scopes);
  for (const { refresh_token } of [exchanged, refreshed])
    expect(tokensOf(await refresh(partner, refresh_token)).scope).toBe('openid email profile');
  const narrow = await throwawayPartner(['openid', 'email']);
  const tokens = tokensOf(await exchange(await grant({ partner: narrow, parameters: { scope: 'openid' } })));
  await sql(approve, narrow.clientId, ['email']);
  expectError(await refresh(narrow, tokens.refresh_token), 400, 'invalid_scope');
  const waiting = await throwawayPartner(['openid', 'email']);
  const code2 = await grant({ partner: waiting, parameters: { scope: 'openid' } });
  await sql(approve, waiting.clientId, ['email']);
  expectError(await exchange(code2), 400, 'invalid_scope');
});
