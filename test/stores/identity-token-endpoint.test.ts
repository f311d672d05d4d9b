import { decodeJwt } from 'jose';
import { beforeEach, expect, test } from 'vitest';
import { grantConsent } from '../../services/identity/src/consents/consent-table.ts';
import type { ClientId, ConsentId } from '../../services/identity/src/ids.ts';
import {
  addGrant,
  addUser,
  issueCode,
  outcomeOf,
  type Partner,
  requestExchange,
  requestRefresh,
  requestTokens,
  useEndpoint,
} from './identity-grant.ts';

const { identity, redis, endpoint } = await useEndpoint();
let partner: Partner;
let granted: Awaited<ReturnType<typeof addGrant>>['granted'];
beforeEach(async () => {
  ({ partner, granted } = await addGrant(identity));
});

const issue = (changes = {}) => issueCode(redis, { ...granted, ...changes });
const approve = (scopes: string[]) =>
  identity.sql('update clients set scopes = $2 where client_id = $1', [partner.clientId, scopes]);

test('an expired secret is not valid, nor is that of an unknown client', async () => {
  const { clientId, secret } = partner;
  const outcome = (presented: string) =>
    outcomeOf(requestTokens(endpoint, { clientId, secret: presented }, { grantType: 'x' }));
  expect(await outcome(secret)).toBe('unsupported_grant_type');
  await identity.sql(`update client_secrets set expires_at = now() - interval '1 s' where client_id = $1`, [
    clientId,
  ]);
  expect(await outcome(secret)).toBe('invalid_client');
  for (const unknown of ['nobody', 'no\0body', "'; drop table clients", 'x'.repeat(4000)])
    expect(
      await outcomeOf(requestTokens(endpoint, { clientId: unknown as ClientId, secret }, { grantType: 'x' })),
    ).toBe('invalid_client');
});

test('of fifty agreements of one user and client at once there is one consent', async () => {
  const other = await addUser(identity);
  const pair = { sub: other, clientId: partner.clientId, scopes: ['openid'] as const };
  const all = await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      grantConsent(identity.database, `${other.slice(0, 20)}${index}` as ConsentId, pair),
    ),
  );
  expect(new Set(all.map((consent) => consent.consentId)).size).toBe(1);
});

test('a scope taken from the client before the exchange and given back comes to life on refresh [R13.8]', async () => {
  const code = await issue({ scopes: ['openid', 'email'] });
  await approve(['openid']);
  const begun = await requestExchange(endpoint, partner, code);
  expect([begun.scope, decodeJwt(begun.accessToken).scope]).toEqual(['openid', 'openid']);
  await approve(['openid', 'email', 'profile']);
  const next = await requestRefresh(endpoint, partner, begun.refreshToken);
  expect([next.scope, decodeJwt(next.accessToken).scope]).toEqual(['openid email', 'openid email']);
});

test('a sign-out in the same millisecond as the login kills the grant; a login one later lives [R13.5]', async () => {
  const loggedInAt = Date.now();
  const signOut = 'update users set signed_out_at = to_timestamp($2::float8 / 1000) where sub = $1';
  const begun = await requestExchange(endpoint, partner, await issue({ loggedInAt }));
  const code = await issue({ loggedInAt });
  const later = await issue({ loggedInAt: loggedInAt + 1 });
  await identity.sql(signOut, [granted.sub, loggedInAt]);
  expect(await outcomeOf(requestExchange(endpoint, partner, code))).toBe('invalid_grant');
  expect(await outcomeOf(requestRefresh(endpoint, partner, begun.refreshToken))).toBe('invalid_grant');
  expect(await outcomeOf(requestExchange(endpoint, partner, later))).toBe('tokens');
});
