// What a code and a refresh family remember of the request that used, replaced or revoked them, and for how long (R33.3).
import { setTimeout as sleep } from 'node:timers/promises';
import { carryContextAcrossAwaits } from '@course-exchange/runtime/process/request-context';
import { expect, test } from 'vitest';
import {
  addPartner,
  asRequest,
  outcomeOf,
  refusalOf,
  useEndpoint,
} from '../../../../test/stores/identity-grant.ts';
import { serverOf } from '../../../../test/stores/redis-servers.ts';
import type { FamilyId } from '../ids.ts';
import { Refusal } from '../refusals/reasons.ts';
import { hashSecret } from '../secrets.ts';
import type { TokenDeps } from './grant.ts';
import { createAuthorizationCode, grantKeys } from './grant-store.ts';

carryContextAcrossAwaits();
const endpoint = await useEndpoint(8);
const { identity, redis, stores, issue, exchange, refresh } = endpoint;
const server = serverOf(redis);

const week = 7 * 24 * 3_600_000;
const month = 30 * 24 * 3_600_000;

const keysOf = (token: string) => grantKeys(token.slice(0, 22) as FamilyId);
const familyKey = (token: string) => keysOf(token)[1];
const hashOf = (token: string) => hashSecret(token.slice(22));
const begin = async () => (await exchange(await issue())).refreshToken;
const rotate = async (token: string, requestId = 'rotation') =>
  (await asRequest(requestId, () => refresh(token))).refreshToken;
const replay = async (code: string, requestId: string) => {
  expect((await refusalOf(asRequest(requestId, () => exchange(code))))[0]).toBe('replayed');
};
/** A revoked family; its token and its code. */
async function revoked() {
  const code = await issue();
  const { refreshToken } = await asRequest('exchange', () => exchange(code));
  await replay(code, 'replay');
  return { code, refreshToken };
}

test('a token that the last rotation replaced names it; an older one and an invented one name none', async () => {
  const first = await begin();
  const second = await rotate(first, 'rotation 1');
  expect(await refusalOf(refresh(first))).toEqual(['reused', 'rotation 1']);
  const third = await rotate(second, 'rotation 2');
  expect(await refusalOf(refresh(first))).toEqual(['reused', undefined]);
  expect(await refusalOf(refresh(second))).toEqual(['reused', 'rotation 2']);
  expect(await refusalOf(refresh(`${first.slice(0, 22)}${'x'.repeat(43)}`))).toEqual(['reused', undefined]);
  const begun = await begin();
  expect(await refusalOf(refresh(`${begun.slice(0, 22)}${'x'.repeat(43)}`))).toEqual(['reused', undefined]);
  await rotate(third);
});

test('each loser of rotations at once names the winner, without another command [R11.2]', async () => {
  const token = await begin();
  const commands: string[] = [];
  const racing = stores.map((store, i) => {
    const run: TokenDeps['redis']['run'] = (operation, ...rest) => {
      commands.push(operation);
      return store.run(operation, ...rest);
    };
    const by = { ...endpoint.deps, redis: { ...store, run } };
    return asRequest(`racer ${i}`, () => refresh(token, { by })).then(
      () => `racer ${i}`,
      (error: unknown) => error,
    );
  });
  const outcomes = await Promise.all(racing);
  const [winner] = outcomes.filter((outcome) => typeof outcome === 'string');
  const losers = outcomes.filter((outcome) => outcome instanceof Refusal);
  expect(losers).toHaveLength(stores.length - 1);
  for (const { facts } of losers)
    expect([facts.event?.reason, facts.earlier?.requestId]).toEqual(['reused', winner]);
  const rotations = commands.filter((operation) => operation === 'rotate refresh token');
  expect(rotations.length).toBeGreaterThan(1);
  expect(commands).toHaveLength(stores.length + rotations.length);
});

test('a replayed code names its exchange, also to the losers of a race; the family names the replay [R10.2]', async () => {
  const code = await issue();
  const { refreshToken } = await asRequest('exchange', () => exchange(code));
  expect(await refusalOf(asRequest('replay 1', () => exchange(code)))).toEqual(['replayed', 'exchange']);
  expect(await refusalOf(asRequest('replay 2', () => exchange(code)))).toEqual(['replayed', 'exchange']);
  expect(await refusalOf(refresh(refreshToken))).toEqual(['revoked', 'replay 1', 'code_replayed']);
  const raced = await issue();
  const racers = stores.map((store, i) =>
    asRequest(`racer ${i}`, () => exchange(raced, { by: { ...endpoint.deps, redis: store } })).catch(
      (error: unknown) => error,
    ),
  );
  const outcomes = await Promise.all(racers);
  const winner = `racer ${outcomes.findIndex((outcome) => !(outcome instanceof Error))}`;
  const losers = outcomes.filter((outcome) => outcome instanceof Refusal);
  expect(losers).toHaveLength(stores.length - 1);
  for (const { facts } of losers) expect(facts.earlier?.requestId).toBe(winner);
});

test.each([
  ['consent_withdrawn', 'update consents set withdrawn_at = now() where sub = $1'],
  ['user_disabled', 'update users set disabled_at = now() where sub = $1'],
  ['signed_out_by_operator', 'update users set signed_out_at = now() where sub = $1'],
  ['user_deleted', 'delete from users where sub = $1'],
])(
  '%s: each refresh names the time of the change, or later ones the first refresh if it is not known',
  async (reason, statement) => {
    const token = await begin();
    await sleep(2);
    await identity.sql(statement, [endpoint.granted.sub]);
    const isTimeKnown = reason !== 'user_deleted';
    const known = isTimeKnown ? ['', reason] : [undefined];
    expect(await refusalOf(asRequest('refresh', () => refresh(token)))).toEqual([reason, ...known]);
    for (let again = 0; again < 2; again += 1)
      expect(await refusalOf(asRequest('later', () => refresh(token)))).toEqual([
        'revoked',
        isTimeKnown ? '' : 'refresh',
        reason,
      ]);
  },
);

test('the time of a withdrawal is the same at each refresh', async () => {
  const token = await begin();
  await identity.sql("update consents set withdrawn_at = now() - interval '1 hour' where sub = $1", [
    endpoint.granted.sub,
  ]);
  const timeOf = () =>
    refresh(token).catch((error: unknown) => error instanceof Refusal && error.facts.earlier?.at);
  const withdrawnAt = await timeOf();
  expect(withdrawnAt).toBeLessThan(Date.now() - 3_500_000);
  expect(await timeOf()).toBe(withdrawnAt);
});

test('a code that expires before it is used is not known, not replayed', async () => {
  const code = await issue();
  const run: TokenDeps['redis']['run'] = async (operation, ...rest) => {
    if (operation === 'exchange authorization code') await server.del(keysOf(code)[0]);
    return redis.run(operation, ...rest);
  };
  const by = { ...endpoint.deps, redis: { ...redis, run } };
  expect(await refusalOf(exchange(code, { by }))).toEqual(['not_known', undefined]);
});

test('a family that was revoked says so for the rest of its 37 days, then it is not known [R33.3]', async () => {
  const { refreshToken } = await revoked();
  const key = familyKey(refreshToken);
  expect(await server.pttl(key)).toBeGreaterThan(month + week - 60_000);
  await server.pexpire(key, 60_000);
  expect(await refusalOf(refresh(refreshToken))).toEqual(['revoked', 'replay', 'code_replayed']);
  await server.del(key);
  expect(await refusalOf(refresh(refreshToken))).toEqual(['not_known', undefined]);
});

test('a token is valid for 30 days from its rotation and not longer; the key lives on for seven [R33.3 S3.refresh.3 S5.lifetime.3 S8.5 R11.4]', async () => {
  const first = await begin();
  const key = familyKey(first);
  await server.pexpire(key, week + 60_000);
  const token = await rotate(first);
  const left = await server.pttl(key);
  expect(left).toBeGreaterThan(month + week - 60_000);
  expect(left).toBeLessThanOrEqual(month + week);
  await server.pexpire(key, week);
  const before = await server.hgetall(key);
  const unrotated = after(() => Promise.reject(new Error('rotated')));
  expect(await refusalOf(refresh(token, { by: unrotated }))).toEqual(['expired', undefined]);
  expect(await refusalOf(refresh(first))).toEqual(['reused', 'rotation']);
  expect(await server.hgetall(key)).toEqual(before);
  await server.pexpire(key, 60_000);
  expect(await refusalOf(refresh(token))).toEqual(['expired', undefined]);
  await server.pexpire(key, week + 60_000);
  expect(await outcomeOf(refresh(token))).toBe('tokens');
});

/** The endpoint whose rotation waits until `meanwhile` is done. */
function after(meanwhile: () => Promise<unknown>): TokenDeps {
  const run: TokenDeps['redis']['run'] = async (operation, ...rest) => {
    if (operation === 'rotate refresh token') await meanwhile();
    return redis.run(operation, ...rest);
  };
  return { ...endpoint.deps, redis: { ...redis, run } };
}

test('a rotation that finds the token expired, revoked or gone consumes nothing and says so', async () => {
  const code = await issue();
  const { refreshToken } = await exchange(code);
  const key = familyKey(refreshToken);
  const refreshAfter = (meanwhile: () => Promise<unknown>) =>
    refusalOf(refresh(refreshToken, { by: after(meanwhile) }));
  const { hash } = await server.hgetall(key);
  expect(await refreshAfter(() => server.pexpire(key, week))).toEqual(['expired', undefined]);
  expect(await server.hget(key, 'hash')).toBe(hash);
  await server.pexpire(key, month + week);
  expect(await refreshAfter(() => replay(code, 'replay'))).toEqual(['revoked', 'replay', 'code_replayed']);
  const other = await begin();
  const gone = after(() => server.del(familyKey(other)));
  expect(await refusalOf(refresh(other, { by: gone }))).toEqual(['not_known', undefined]);
});

test('a revoked family never lives again: not by its token, its code, or a second code of its name', async () => {
  const { code, refreshToken } = await revoked();
  const [codeKey, key] = keysOf(code);
  const mark = await server.hgetall(key);
  expect(mark).not.toHaveProperty('hash');
  await replay(code, 'replay 2');
  const used = await server.hgetall(codeKey);
  await server.hdel(codeKey, 'used');
  await server.hset(codeKey, {
    consent: endpoint.granted.consentId,
    scope: 'openid',
    logged_in_at: Date.now(),
  });
  expect(await outcomeOf(exchange(code))).toBe('invalid_grant');
  expect(await server.hexists(codeKey, 'used')).toBe(0);
  await server.del(codeKey);
  const familyId = code.slice(0, 22) as FamilyId;
  const again = { ...endpoint.granted, familyId, hash: hashOf(code), scopes: [], loggedInAt: 0 };
  const fields = { redirectUri: used.redirect_uri ?? '', nonce: '', pkce: undefined, authTime: undefined };
  expect(await createAuthorizationCode(redis, { ...again, ...fields })).toBe(false);
  expect(await refusalOf(refresh(refreshToken))).toEqual(['revoked', 'replay', 'code_replayed']);
  expect(await server.hgetall(key)).toEqual(mark);
});

test('another client learns nothing of a revoked, an expired or a rotated family [R11.1]', async () => {
  const other = await addPartner(identity);
  const { refreshToken } = await revoked();
  const [expired, rotated] = [await begin(), await begin()];
  await server.pexpire(familyKey(expired), week);
  await rotate(rotated);
  for (const token of [refreshToken, expired, rotated])
    expect(await refusalOf(refresh(token, { as: other }))).toEqual(['foreign', undefined]);
});

test('no value of a family takes more than 64 bytes: Redis keeps it as a list', async () => {
  const token = await rotate(await begin(), 'r'.repeat(64));
  const key = familyKey(token);
  // As a table it would take several times the memory.
  expect(await server.object('ENCODING', key)).toBe('listpack');
  const { code } = await revoked();
  expect(await server.object('ENCODING', familyKey(code))).toBe('listpack');
});
