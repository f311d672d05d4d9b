// Two releases at once during an upgrade: one whose families remember earlier requests, and the one before, whose scripts
// know `hash`, `issued_at`, `used` and 30 days. The latter is played by its commands.
import { carryContextAcrossAwaits } from '@course-exchange/runtime/process/request-context';
import { expect, test } from 'vitest';
import { asRequest, outcomeOf, refusalOf, useEndpoint } from '../../../../test/stores/identity-grant.ts';
import { serverOf } from '../../../../test/stores/redis-servers.ts';
import type { FamilyId } from '../ids.ts';
import { hashSecret } from '../secrets.ts';
import { grantKeys } from './grant-store.ts';

carryContextAcrossAwaits();
const { redis, issue, exchange, refresh } = await useEndpoint();
const server = serverOf(redis);

const [week, month] = [7 * 24 * 3_600_000, 30 * 24 * 3_600_000];
const keysOf = (token: string) => grantKeys(token.slice(0, 22) as FamilyId);
const familyKey = (token: string) => keysOf(token)[1];
const hashOf = (token: string) => hashSecret(token.slice(22));
const rotate = async (token: string, requestId = 'rotation') =>
  (await asRequest(requestId, () => refresh(token))).refreshToken;

const old = {
  rotate: async (token: string, successor: string) => {
    const key = familyKey(token);
    if ((await server.hget(key, 'hash')) !== hashOf(token)) return false;
    await server.hset(key, 'hash', hashOf(successor), 'issued_at', Date.now());
    return (await server.expire(key, month / 1_000)) === 1;
  },
  use: async (code: string, refreshToken: string) => {
    const [codeKey, key] = keysOf(code);
    const { hash, client, sub, consent, scope, logged_in_at } = await server.hgetall(codeKey);
    expect(hash).toBe(hashOf(code));
    await server.hset(codeKey, 'used', 1);
    const grant = { client, sub, consent, scope, logged_in_at, issued_at: Date.now() };
    await server.hset(key, { hash: hashOf(refreshToken), ...grant });
    await server.expire(key, month / 1_000);
  },
  /** Deletes the family of a used code, as a replay did; whether there was one. */
  replay: async (code: string) => {
    const [codeKey, key] = keysOf(code);
    const isUsed =
      (await server.hget(codeKey, 'hash')) === hashOf(code) && (await server.hexists(codeKey, 'used')) === 1;
    return isUsed && (await server.del(key)) === 1;
  },
};
const tokenOf = (familyId: string, letter: string) => `${familyId.slice(0, 22)}${letter.repeat(43)}`;

test('a family of the release before is refreshed for its 30 days', async () => {
  const code = await issue();
  const [first, second] = [tokenOf(code, 'a'), tokenOf(code, 'b')];
  await old.use(code, first);
  await server.expire(familyKey(code), 60);
  expect(await refusalOf(refresh(second))).toEqual(['reused', undefined]);
  const third = await rotate(first);
  expect(await old.rotate(third, second)).toBe(true);
  for (const spent of [first, third]) expect(await refusalOf(refresh(spent))).toEqual(['reused', undefined]);
  await server.expire(familyKey(code), 60);
  const fourth = await rotate(second, 'rotation 2');
  expect(await refusalOf(refresh(second))).toEqual(['reused', 'rotation 2']);
  expect(await server.pttl(familyKey(code))).toBeGreaterThan(month + week - 10_000);
  expect(await refusalOf(exchange(code))).toEqual(['replayed', undefined]);
  expect((await refusalOf(refresh(fourth)))[0]).toBe('revoked');
});

test('the release before refreshes what this one began, and brings no revoked family back', async () => {
  const code = await issue();
  const { refreshToken } = await exchange(code);
  const successor = tokenOf(code, 'a');
  expect(await old.rotate(refreshToken, successor)).toBe(true);
  expect(await outcomeOf(refresh(successor))).toBe('tokens');
  expect(await old.replay(code)).toBe(true);
  expect(await refusalOf(refresh(successor))).toEqual(['not_known', undefined]);
  const dead = await issue();
  const tokens = await exchange(dead);
  await refusalOf(exchange(dead));
  expect(await old.rotate(tokens.refreshToken, tokenOf(dead, 'a'))).toBe(false);
  expect(await refusalOf(refresh(tokens.refreshToken))).toEqual(['revoked', '', 'code_replayed']);
});
