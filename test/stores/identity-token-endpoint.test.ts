// The token endpoint on real stores: what consumes a grant and what does not, and what changed since it was
// issued (R9, R11, R12, R13).
import { createHash } from 'node:crypto';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ClientId, ConsentId, Sub } from '../../services/identity/src/domain/ids.ts';
import type { TokenEndpoint } from '../../services/identity/src/grants/token-endpoint.ts';
import { getUserInfo } from '../../services/identity/src/grants/user-info.ts';
import { grantConsent } from '../../services/identity/src/store/postgres/consents.ts';
import type { ReplicatedStore } from '../../services/identity/src/store/redis/replication.ts';
import {
  addConsent,
  addPartner,
  addSecret,
  addUser,
  issueCode,
  openEndpoint,
  outcomeOf,
  type Partner,
  redirectUri,
  requestExchange,
  requestRefresh,
  requestTokens,
} from './identity-grant.ts';
import { type IdentityDatabase, openIdentityDatabase, openRedis, serverOf } from './identity-stores.ts';

let identity: IdentityDatabase;
let redis: ReplicatedStore;
let endpoint: TokenEndpoint;
let partner: Partner;
let sub: Sub;
let consentId: ConsentId;
let granted: { sub: Sub; consentId: ConsentId; clientId: ClientId };

beforeAll(async () => {
  identity = await openIdentityDatabase();
  [redis] = (await openRedis()) as [ReplicatedStore];
  endpoint = await openEndpoint(identity, redis);
});
beforeEach(async () => {
  partner = await addPartner(identity);
  sub = await addUser(identity);
  consentId = await addConsent(identity, sub, partner.clientId);
  granted = { sub, consentId, clientId: partner.clientId };
});
afterAll(async () => {
  await redis.close();
  await identity.close();
});

const verifier = 'v'.repeat(43);
const challenge = createHash('sha256').update(verifier).digest('base64url');

test('no failed attempt consumes a code; the one that passes every check does [R9.1]', async () => {
  const stranger = await addPartner(identity);
  const code = await issueCode(redis, { ...granted, pkce: { challenge, method: 'S256' } });
  const right = { codeVerifier: verifier };
  const attempts = [
    requestExchange(endpoint, { ...partner, secret: 'wrong' }, code, right),
    requestExchange(endpoint, stranger, code, right),
    requestExchange(endpoint, partner, code, { ...right, redirectUri: `${redirectUri}/` }),
    requestExchange(endpoint, partner, code, { ...right, redirectUri: '' }),
    requestExchange(endpoint, partner, code),
    requestExchange(endpoint, partner, code, { codeVerifier: 'short' }),
    requestExchange(endpoint, partner, code, { codeVerifier: 'w'.repeat(43) }),
    requestExchange(endpoint, partner, `${code.slice(0, 22)}${'x'.repeat(43)}`, right),
  ];
  expect(await Promise.all(attempts.map(outcomeOf))).toEqual([
    'invalid_client',
    'invalid_grant',
    'invalid_grant',
    'invalid_request',
    'invalid_request',
    'invalid_request',
    'invalid_grant',
    'invalid_grant',
  ]);
  expect(await outcomeOf(requestExchange(endpoint, partner, code, right))).toBe('tokens');
});

test('the client is authenticated before the grant type is looked at [R8.1]', async () => {
  const wrong = { ...partner, secret: 'wrong' };
  expect(await outcomeOf(requestTokens(endpoint, wrong, { grantType: 'password' }))).toBe('invalid_client');
  expect(await outcomeOf(requestTokens(endpoint, partner, { grantType: 'password' }))).toBe(
    'unsupported_grant_type',
  );
  expect(await outcomeOf(requestTokens(endpoint, partner, {}))).toBe('invalid_request');
});

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

test('a refresh by another client changes nothing; a consumed token is refused, its successor lives [R11.1] [R11.2]', async () => {
  const stranger = await addPartner(identity);
  const begun = await requestExchange(endpoint, partner, await issueCode(redis, granted));
  expect(await outcomeOf(requestRefresh(endpoint, stranger, begun.refreshToken))).toBe('invalid_grant');
  const next = await requestRefresh(endpoint, partner, begun.refreshToken);
  expect(next).not.toHaveProperty('idToken');
  expect(await outcomeOf(requestRefresh(endpoint, partner, begun.refreshToken))).toBe('invalid_grant');
  expect(await outcomeOf(requestRefresh(endpoint, partner, next.refreshToken))).toBe('tokens');
});

test('a narrower scope holds for this access token only; a wider one consumes nothing [R12.1] [R12.2]', async () => {
  const code = await issueCode(redis, { ...granted, scopes: ['openid', 'email'] });
  const begun = await requestExchange(endpoint, partner, code);
  for (const scope of ['openid profile', 'openid unknown', ' '])
    expect(await outcomeOf(requestRefresh(endpoint, partner, begun.refreshToken, { scope }))).toBe(
      'invalid_scope',
    );
  const narrowed = await requestRefresh(endpoint, partner, begun.refreshToken, { scope: 'openid' });
  expect([narrowed.scope, decodeJwt(narrowed.accessToken).scope]).toEqual(['openid', 'openid']);
  const whole = await requestRefresh(endpoint, partner, narrowed.refreshToken);
  expect(whole.scope).toBe('openid email');
});

const deaths = [
  ['a withdrawn consent', 'update consents set withdrawn_at = now() where sub = $1'],
  ['a disabled user', 'update users set disabled_at = now() where sub = $1'],
  ['a user signed out by the operator', 'update users set signed_out_at = now() where sub = $1'],
  ['a deleted user', 'delete from users where sub = $1'],
] as const;

test.each(deaths)('%s: invalid_grant, and code and refresh token are deleted (R13)', async (_, statement) => {
  const begun = await requestExchange(endpoint, partner, await issueCode(redis, granted));
  const code = await issueCode(redis, granted);
  await identity.sql(statement, [sub]);
  expect(await outcomeOf(requestExchange(endpoint, partner, code))).toBe('invalid_grant');
  expect(await outcomeOf(requestRefresh(endpoint, partner, begun.refreshToken))).toBe('invalid_grant');
  expect(await serverOf(redis).hexists(`code:{${code.slice(0, 22)}}`, 'hash')).toBe(0);
  expect(await serverOf(redis).exists(`rt:{${begun.refreshToken.slice(0, 22)}}`)).toBe(0);
});

test('a consent given anew does not wake what the withdrawn one left; an extended one is the same [R13.4] [R13.6]', async () => {
  const begun = await requestExchange(endpoint, partner, await issueCode(redis, granted));
  const pair = { sub, clientId: partner.clientId };
  const newId = (name: string) => name.padEnd(22, 'x') as ConsentId;
  const extended = await grantConsent(identity.database, newId('a'), { ...pair, scopes: ['email'] });
  expect(extended.consentId).toBe(consentId);
  expect([...extended.scopes].sort()).toEqual(['email', 'openid', 'profile']);
  const next = await requestRefresh(endpoint, partner, begun.refreshToken);
  await identity.sql('update consents set withdrawn_at = now() where sub = $1', [sub]);
  const renewed = await grantConsent(identity.database, newId(sub), { ...pair, scopes: ['openid'] });
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
  const begun = await requestExchange(endpoint, partner, await issueCode(redis, granted));
  const approve = (scopes: string[]) =>
    identity.sql('update clients set scopes = $2 where client_id = $1', [partner.clientId, scopes]);
  await approve(['openid', 'profile']);
  const next = await requestRefresh(endpoint, partner, begun.refreshToken);
  expect([next.scope, decodeJwt(next.accessToken).scope]).toEqual(['openid profile', 'openid profile']);
  const code = await issueCode(redis, { ...granted, scopes: ['email'] });
  expect(await outcomeOf(requestExchange(endpoint, partner, code))).toBe('invalid_scope');
  expect(await outcomeOf(requestRefresh(endpoint, partner, next.refreshToken, { scope: 'email' }))).toBe(
    'invalid_scope',
  );
  await approve(['email']);
  expect(await outcomeOf(requestExchange(endpoint, partner, code))).toBe('tokens');
});

test('a deactivated client is invalid_client at both grants, and nothing is consumed [R13.1]', async () => {
  const begun = await requestExchange(endpoint, partner, await issueCode(redis, granted));
  const code = await issueCode(redis, granted);
  const activate = (active: boolean) =>
    identity.sql('update clients set active = $2 where client_id = $1', [partner.clientId, active]);
  await activate(false);
  expect(await outcomeOf(requestExchange(endpoint, partner, code))).toBe('invalid_client');
  expect(await outcomeOf(requestRefresh(endpoint, partner, begun.refreshToken))).toBe('invalid_client');
  await activate(true);
  expect(await outcomeOf(requestExchange(endpoint, partner, code))).toBe('tokens');
  expect(await outcomeOf(requestRefresh(endpoint, partner, begun.refreshToken))).toBe('tokens');
});

test('user-info answers while the user is there and enabled, and only with openid [R13.7]', async () => {
  const begun = await requestExchange(endpoint, partner, await issueCode(redis, granted));
  const emailOnly = await requestRefresh(endpoint, partner, begun.refreshToken, { scope: 'email' });
  const ask = (token: string) => getUserInfo(endpoint, `Bearer ${token}`).then(({ email }) => email);
  expect(await ask(begun.accessToken)).toBe(`${sub}@example.org`);
  await expect(ask(emailOnly.accessToken)).rejects.toMatchObject({ code: 'invalid_token' });
  await identity.sql('update users set disabled_at = now() where sub = $1', [sub]);
  await expect(ask(begun.accessToken)).rejects.toMatchObject({ code: 'invalid_token' });
  await identity.sql('delete from users where sub = $1', [sub]);
  await expect(ask(begun.accessToken)).rejects.toMatchObject({ code: 'invalid_token' });
});
