// The token endpoint on real stores: what consumes a grant and what does not, and what changed since it was
// issued (R9, R11, R12, R13).
import { createHash } from 'node:crypto';
import { decodeJwt } from 'jose';
import { beforeEach, expect, test } from 'vitest';
import { grantConsent } from '../../services/identity/src/consents/consent-table.ts';
import type { ClientId, ConsentId } from '../../services/identity/src/ids.ts';
import {
  addGrant,
  addSecret,
  addUser,
  issueCode,
  outcomeOf,
  type Partner,
  requestExchange,
  requestRefresh,
  requestTokens,
  useEndpoint,
} from './identity-grant.ts';
import { serverOf } from './identity-stores.ts';

const { identity, redis, endpoint } = await useEndpoint();
let partner: Partner;
let granted: Awaited<ReturnType<typeof addGrant>>['granted'];
beforeEach(async () => {
  ({ partner, granted } = await addGrant(identity));
});

const issue = (changes = {}) => issueCode(redis, { ...granted, ...changes });
const begin = async () => requestExchange(endpoint, partner, await issue());
const approve = (scopes: string[]) =>
  identity.sql('update clients set scopes = $2 where client_id = $1', [partner.clientId, scopes]);
test('several secrets are valid at once; expired and retired ones are not, nor is an unknown client', async () => {
  const { clientId, secret } = partner;
  await addSecret(identity, clientId, 'second');
  const outcome = (presented: string) =>
    outcomeOf(requestTokens(endpoint, { clientId, secret: presented }, { grantType: 'x' }));
  expect([await outcome(secret), await outcome('second')]).toEqual(Array(2).fill('unsupported_grant_type'));
  const hash = createHash('sha256').update(secret).digest();
  await identity.sql('update client_secrets set retired_at = now() where secret_hash = $1', [hash]);
  expect([await outcome(secret), await outcome('second')]).toEqual([
    'invalid_client',
    'unsupported_grant_type',
  ]);
  await identity.sql(`update client_secrets set expires_at = now() - interval '1 s' where client_id = $1`, [
    clientId,
  ]);
  expect(await outcome('second')).toBe('invalid_client');
  for (const unknown of ['nobody', 'no\0body', "'; drop table clients", 'x'.repeat(4000)])
    expect(
      await outcomeOf(requestTokens(endpoint, { clientId: unknown as ClientId, secret }, { grantType: 'x' })),
    ).toBe('invalid_client');
});

const deaths = [
  ['a withdrawn consent', 'update consents set withdrawn_at = now() where sub = $1'],
  ['a disabled user', 'update users set disabled_at = now() where sub = $1'],
  ['a user signed out by the operator', 'update users set signed_out_at = now() where sub = $1'],
  ['a deleted user', 'delete from users where sub = $1'],
] as const;

test.each(deaths)('%s: invalid_grant, and code and refresh token are deleted (R13)', async (_, statement) => {
  const begun = await begin();
  const code = await issue();
  await identity.sql(statement, [granted.sub]);
  expect(await outcomeOf(requestExchange(endpoint, partner, code))).toBe('invalid_grant');
  expect(await outcomeOf(requestRefresh(endpoint, partner, begun.refreshToken))).toBe('invalid_grant');
  expect(await serverOf(redis).hexists(`code:{${code.slice(0, 22)}}`, 'hash')).toBe(0);
  expect(await serverOf(redis).exists(`rt:{${begun.refreshToken.slice(0, 22)}}`)).toBe(0);
});

test('a consent given anew does not wake what the withdrawn one left; an extended one is the same [R13.4] [R13.6]', async () => {
  const begun = await begin();
  const { sub, clientId, consentId } = granted;
  const pair = { sub, clientId };
  const newId = (name: string) => name.padEnd(22, 'x') as ConsentId;
  const extended = await grantConsent(identity.database, newId('a'), { ...pair, scopes: ['email'] });
  expect(extended.consentId).toBe(consentId);
  expect([...extended.scopes].sort()).toEqual(['email', 'openid', 'profile']);
  const next = await requestRefresh(endpoint, partner, begun.refreshToken);
  await identity.sql('update consents set withdrawn_at = now() where sub = $1', [granted.sub]);
  const renewed = await grantConsent(identity.database, newId(granted.sub), { ...pair, scopes: ['openid'] });
  expect(renewed.consentId).not.toBe(consentId);
  expect(await outcomeOf(requestRefresh(endpoint, partner, next.refreshToken))).toBe('invalid_grant');
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

test('reduced scopes of the client leave the intersection, none of them invalid_scope [R13.8] [R13.9]', async () => {
  const begun = await begin();
  await approve(['openid', 'profile']);
  const next = await requestRefresh(endpoint, partner, begun.refreshToken);
  expect([next.scope, decodeJwt(next.accessToken).scope]).toEqual(['openid profile', 'openid profile']);
  const code = await issue({ scopes: ['email'] });
  expect(await outcomeOf(requestExchange(endpoint, partner, code))).toBe('invalid_scope');
  expect(await outcomeOf(requestRefresh(endpoint, partner, next.refreshToken, { scope: 'email' }))).toBe(
    'invalid_scope',
  );
  await approve(['email']);
  expect(await outcomeOf(requestExchange(endpoint, partner, code))).toBe('tokens');
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
