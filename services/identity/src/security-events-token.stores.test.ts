// What the token endpoint and user-info log and count of what they refuse (R33.1, R33.2).
import { carryContextAcrossAwaits, withCall } from '@course-exchange/runtime/process/request-context';
import { context, ROOT_CONTEXT } from '@opentelemetry/api';
import { beforeEach, expect, test } from 'vitest';
import {
  addPartner,
  hashOf,
  outcomeOf,
  recordRequests,
  useEndpoint,
} from '../../../test/stores/identity-grant.ts';
import { serverOf } from '../../../test/stores/redis-servers.ts';
import type { Scope } from './clients/scope.ts';
import type { ClientId } from './ids.ts';
import { issueAccessToken } from './token/jwt.ts';
import { getUserInfo } from './token/userinfo.ts';

carryContextAcrossAwaits();
const { log, told, refused, counted } = await recordRequests();
const endpoint = await useEndpoint(1, log);
const { identity, redis, issue, request, exchange, refresh } = endpoint;

let { partner, granted } = endpoint;
let known: { readonly client: ClientId; readonly user: string };
beforeEach(() => {
  ({ partner, granted } = endpoint);
  known = { client: partner.clientId, user: hashOf(granted.sub) };
});
const beginFamily = async () => exchange(await issue());
const invalidGrant = async (refused: ReturnType<typeof request>) =>
  expect(await outcomeOf(refused)).toBe('invalid_grant');

test('names a client that failed to authenticate only where there is such a client [R33.1]', async () => {
  const event = 'client_authentication.failed';
  const { clientId, secret } = partner;
  for (const [sent, expected] of [
    [
      { clientId, secret: 'wrong' },
      { client: clientId, reason: 'wrong_secret' },
    ],
    [{ clientId: 'ada@example.org' as ClientId, secret }, { reason: 'unknown_client' }],
    [{ clientId: 'no\0body' as ClientId, secret }, { reason: 'unknown_client' }],
    [{ clientId, secret: '' }, { reason: 'no_credentials' }],
  ] as const) {
    expect(await outcomeOf(request({ grantType: 'x', as: sent }))).toBe('invalid_client');
    expect(told()).toEqual([{ event, ...expected }]);
  }
  await identity.sql("update client_secrets set expires_at = now() - interval '1 s' where client_id = $1", [
    clientId,
  ]);
  expect(await outcomeOf(request({ grantType: 'x' }))).toBe('invalid_client');
  expect(told()).toEqual([{ event, client: clientId, reason: 'wrong_secret' }]);
  await identity.sql('update clients set active = false where client_id = $1', [clientId]);
  await outcomeOf(request({ grantType: 'x' }));
  expect(told()).toEqual([{ event, client: clientId, reason: 'inactive_client' }]);
});

const inCall = <T>(work: () => Promise<T>): Promise<T> =>
  context.with(withCall(ROOT_CONTEXT, 'request-1', Date.now() + 10_000, '192.0.2.77'), work);

test('tells from which network a request came [R33.1]', async () => {
  await inCall(() => outcomeOf(request({ as: { ...partner, secret: 'wrong' } })));
  expect(told()).toMatchObject([{ reason: 'wrong_secret', network: hashOf('network 192.0.2.0/24') }]);
});

test('any other refusal has a line, and all are counted, for a client once it has authenticated', async () => {
  const { refreshToken } = await beginFamily();
  const { clientId: client } = partner;
  for (const fields of [
    { grantType: 'refresh_token', refreshToken, scope: 'openid admin' },
    { grantType: 'password' },
    { grantType: 'refresh_token', refreshToken: 'x' },
    { authorization: 'Basic eDp5' },
  ])
    await inCall(() => expect(request(fields)).rejects.toThrow());
  const proven = [
    ['invalid_scope', 'beyond_the_grant'],
    ['unsupported_grant_type', 'grant_type'],
  ];
  const unproven = ['invalid_request', 'two_client_authentication_methods'];
  expect(refused()).toEqual([...proven.map((one) => [...one, client]), [...unproven, undefined]]);
  expect(told()).toMatchObject([{ client, reason: 'malformed' }]);
  const series = [...proven, ['invalid_grant', 'refresh_token_malformed']].map((one) => [...one, 1]);
  expect((await counted('tokens_refused', client)).toSorted()).toEqual(series.toSorted());
  expect(await counted('tokens_refused', 'unknown')).toContainEqual([...unproven, 1]);
});

test('a refusal of user-info is counted by its reason, for the client of a token that we signed', async () => {
  const { clientId: client, sub } = granted;
  const issue = (scopes: readonly Scope[], at = Date.now()) =>
    issueAccessToken(endpoint.deps.tokens, { sub, clientId: client, scopes }, at, 'id');
  const ask = (token: string) =>
    inCall(() => expect(getUserInfo(endpoint.deps, token)).rejects.toMatchObject({ code: 'invalid_token' }));
  await ask('nonsense');
  await ask(await issue(['openid'], Date.now() - 3_600_000));
  await ask(await issue(['email']));
  await identity.sql('delete from users where sub = $1', [sub]);
  await ask(await issue(['openid']));
  const reasons = ['expired', 'scope', 'subject'];
  expect((await counted('access_tokens_refused', client)).toSorted()).toEqual(reasons.map((one) => [one, 1]));
  expect(await counted('access_tokens_refused', 'unknown')).toContainEqual(['malformed', 1]);
  expect(refused().map(([, reason]) => reason)).toEqual(['malformed', ...reasons]);
});

test('tells why a code was refused, and that its replay revoked the grant [R33.1]', async () => {
  const event = 'code.refused';
  const code = await issue();
  const other = await addPartner(identity);
  await invalidGrant(exchange(code, { as: other }));
  await invalidGrant(exchange(code, { redirectUri: 'https://else.example/' }));
  await invalidGrant(exchange('no code'));
  await invalidGrant(exchange('x'.repeat(65)));
  await invalidGrant(exchange(`${code.slice(0, 22)}${'x'.repeat(43)}`));
  expect(told()).toEqual([
    { event, ...known, client: other.clientId, reason: 'foreign' },
    { event, ...known, reason: 'redirect_uri' },
    { event, client: partner.clientId, reason: 'malformed' },
    { event, client: partner.clientId, reason: 'not_known' },
    { event, ...known, reason: 'forged' },
  ]);
  await exchange(code);
  for (let again = 0; again < 2; again += 1) await invalidGrant(exchange(code));
  expect(told()).toEqual([
    { event: 'grant.revoked', ...known, reason: 'code_replayed' },
    { event, ...known, reason: 'replayed' },
    { event, ...known, reason: 'replayed' },
  ]);
  const bound = await issue({ pkce: { challenge: 'c'.repeat(43), method: 'plain' } });
  await invalidGrant(exchange(bound, { codeVerifier: 'v'.repeat(43) }));
  expect(told()).toEqual([{ event, ...known, reason: 'verifier' }]);
});

test('a race of exchanges is logged as its replays, and the revocation once [R33.1]', async () => {
  const code = await issue();
  await Promise.all([1, 2, 3, 4].map(() => outcomeOf(exchange(code))));
  const events = told();
  expect(events).toHaveLength(4);
  expect(events).toContainEqual({ event: 'grant.revoked', ...known, reason: 'code_replayed' });
  const replayed = { event: 'code.refused', ...known, reason: 'replayed' };
  expect(events.filter((event) => JSON.stringify(event) === JSON.stringify(replayed))).toHaveLength(3);
});

test('tells a reused, a foreign and an unknown refresh token apart [R33.1]', async () => {
  const event = 'refresh_token.refused';
  const { refreshToken } = await beginFamily();
  const other = await addPartner(identity);
  await invalidGrant(refresh(refreshToken, { as: other }));
  await invalidGrant(refresh('no token'));
  await invalidGrant(refresh('x'.repeat(65)));
  await refresh(refreshToken);
  await invalidGrant(refresh(refreshToken));
  expect(told()).toEqual([
    { event, ...known, client: other.clientId, reason: 'foreign' },
    { event, client: partner.clientId, reason: 'malformed' },
    { event, client: partner.clientId, reason: 'not_known' },
    { event, ...known, reason: 'reused' },
  ]);
});

test.each([
  ['consent_withdrawn', 'update consents set withdrawn_at = now() where sub = $1'],
  ['user_disabled', 'update users set disabled_at = now() where sub = $1'],
  ['signed_out_by_operator', 'update users set signed_out_at = now() where sub = $1'],
  ['user_deleted', 'delete from users where sub = $1'],
])('tells what ended a grant, and ends its secret: %s [R33.1]', async (reason, statement) => {
  const { refreshToken } = await beginFamily();
  const code = await issue();
  await identity.sql(statement, [granted.sub]);
  await invalidGrant(refresh(refreshToken));
  await invalidGrant(exchange(code));
  expect(told()).toEqual([
    { event: 'grant.revoked', ...known, reason },
    { event: 'refresh_token.refused', ...known, reason },
    { event: 'grant.revoked', ...known, reason },
    { event: 'code.refused', ...known, reason },
  ]);
  expect(await serverOf(redis).hexists(`code:{${code.slice(0, 22)}}`, 'hash')).toBe(0);
  expect(await serverOf(redis).hexists(`rt:{${refreshToken.slice(0, 22)}}`, 'hash')).toBe(0);
});
