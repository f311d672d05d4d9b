import { generateKeyPairSync } from 'node:crypto';
import type { CryptoKey, JWK } from 'jose';
import { expect, test } from 'vitest';
import { createKeySet } from './key-set.ts';

const { x = '', y = '' } = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({
  format: 'jwk',
});
const key: JWK = { kid: 'a', alg: 'ES256', kty: 'EC', crv: 'P-256', x, y };

function keySetOf(answer: () => Promise<readonly JWK[]>) {
  const seen = { now: 1_000_000, fetches: 0 };
  const keySet = createKeySet({
    fetchJwks: async () => {
      seen.fetches += 1;
      return JSON.stringify({ keys: await answer() });
    },
    algorithm: 'ES256',
    now: () => seen.now,
  });
  return { keySet, seen };
}

test('many calls at once fetch once, and a known key is not fetched again for 300 s', async () => {
  const { keySet, seen } = keySetOf(async () => [key]);
  const found = await Promise.all(Array.from({ length: 50 }, () => keySet.find('a')));
  expect(found.every((one) => one !== undefined)).toBe(true);
  seen.now += 299_999;
  await keySet.find('a');
  expect(seen.fetches).toBe(1);
  seen.now += 1;
  await keySet.find('a');
  expect(seen.fetches).toBe(2);
});

test('unknown kids fetch at most once a second', async () => {
  const { keySet, seen } = keySetOf(async () => [key]);
  await keySet.find('a');
  for (let attempt = 0; attempt < 100; attempt++)
    expect(await keySet.find(`forged-${attempt}`)).toBeUndefined();
  expect(seen.fetches).toBe(1);
  seen.now += 1_000;
  await keySet.find('forged');
  await keySet.find('forged');
  expect(seen.fetches).toBe(2);
});

test('a key published later is found as soon as a token names it', async () => {
  const keys = [key];
  const { keySet, seen } = keySetOf(async () => keys);
  await keySet.find('a');
  keys.push({ ...key, kid: 'b' });
  seen.now += 1_000;
  expect(await keySet.find('b')).toBeDefined();
});

test('keys are used for an hour without identity; an empty answer forgets none', async () => {
  let answer: () => Promise<readonly JWK[]> = async () => [key];
  const { keySet, seen } = keySetOf(() => answer());
  await keySet.find('a');
  for (const away of [() => Promise.reject(new Error('away')), async () => []]) {
    answer = away;
    seen.now += 1_799_000;
    expect(await keySet.find('a')).toBeDefined();
  }
  expect(keySet.problem()).toBeUndefined();
  const found = (await keySet.find('a')) as CryptoKey;
  expect(keySet.holds('a', found)).toBe(true);
  seen.now += 2_000;
  expect(keySet.holds('a', found)).toBe(false);
  await expect(keySet.find('a')).rejects.toMatchObject({ code: 'temporarily_unavailable' });
});

test('it says that no set was fetched yet, refuses with temporarily_unavailable, and recovers', async () => {
  let answer: () => Promise<readonly JWK[]> = () => Promise.reject(new Error('away'));
  const { keySet, seen } = keySetOf(() => answer());
  await expect(keySet.find('a')).rejects.toMatchObject({ code: 'temporarily_unavailable' });
  expect(keySet.problem()).toContain('identity');
  answer = async () => [key];
  seen.now += 1_000;
  expect(await keySet.find('a')).toBeDefined();
  expect(keySet.problem()).toBeUndefined();
});

test('keys of another algorithm are left out; an unchanged key stays the same object', async () => {
  const { keySet, seen } = keySetOf(async () => [key, { ...key, kid: 'rsa', alg: 'RS256' }]);
  const first = await keySet.find('a');
  seen.now += 300_000;
  expect(await keySet.find('a')).toBe(first);
  expect(await keySet.find('rsa')).toBeUndefined();
});
