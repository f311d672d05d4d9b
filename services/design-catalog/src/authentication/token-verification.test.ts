import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Refusal } from '../domain/access-token.ts';
import { createKeySet, type PublishedKey } from './key-set.ts';
import { createTokenVerification } from './token-verification.ts';

const issuer = 'https://exchange.example';
const seconds = 1_800_000_000;
const ours = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const theirs = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const published = publish('ours', ours.publicKey);

function publish(kid: string, key: KeyObject): PublishedKey {
  const { x = '', y = '' } = key.export({ format: 'jwk' });
  return { kid, alg: 'ES256', kty: 'EC', crv: 'P-256', n: '', e: '', x, y };
}

const goodHeader = { alg: 'ES256', typ: 'at+jwt', kid: 'ours' };
const goodClaims = {
  iss: issuer,
  aud: 'design-api',
  sub: 'user-1',
  client_id: 'partner',
  scope: 'openid email',
  token_use: 'access_token',
  iat: seconds,
  exp: seconds + 900,
  jti: 'j',
};

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function signed(header: object, claims: object, key: KeyObject = ours.privateKey): string {
  const input = `${encode(header)}.${encode(claims)}`;
  const signature = sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' });
  return `${input}.${signature.toString('base64url')}`;
}

function verification(keys: () => Promise<readonly PublishedKey[]> = async () => [published]) {
  const clock = { now: seconds * 1_000 };
  const refusals: Refusal[] = [];
  const keySet = createKeySet({ fetchKeys: keys, algorithm: 'ES256', now: () => clock.now });
  const authenticate = createTokenVerification({
    issuer,
    algorithm: 'ES256',
    keySet,
    now: () => clock.now,
    refused: (refusal) => refusals.push(refusal),
  });
  return { authenticate, clock, keySet, refusals };
}

async function refusalOf(token: string): Promise<Refusal | undefined> {
  const { authenticate, refusals } = verification();
  await expect(authenticate(`Bearer ${token}`)).rejects.toMatchObject({ code: 'invalid_token' });
  return refusals[0];
}

test('a good token names its owner, again and again', async () => {
  const { authenticate } = verification();
  const token = `Bearer ${signed(goodHeader, goodClaims)}`;
  expect(await authenticate(token)).toBe('user-1');
  expect(await authenticate(token)).toBe('user-1');
  expect(await authenticate(token.replace('Bearer', 'bearer'))).toBe('user-1');
});

test('jku, jwk and x5u are not looked at: the key is the one of our set [R16.2]', async () => {
  const jwk = theirs.publicKey.export({ format: 'jwk' });
  const header = { ...goodHeader, jku: 'https://evil.example/keys', jwk, x5u: 'https://evil.example/x' };
  expect(await verification().authenticate(`Bearer ${signed(header, goodClaims)}`)).toBe('user-1');
  expect(await refusalOf(signed(header, goodClaims, theirs.privateKey))).toBe('signature');
});

const publicPem = ours.publicKey.export({ format: 'pem', type: 'spki' });
const hmacInput = `${encode({ ...goodHeader, alg: 'HS256' })}.${encode(goodClaims)}`;
const unsigned = `${encode({ ...goodHeader, alg: 'none' })}.${encode(goodClaims)}`;
const good = signed(goodHeader, goodClaims);
const [head = '', , signature = ''] = good.split('.');
const forgeries: readonly [string, string, Refusal][] = [
  ['alg none without signature', `${unsigned}.`, 'malformed'],
  ['alg none with the good signature', `${unsigned}.${signature}`, 'algorithm'],
  [
    'HS256 with the public key as secret',
    `${hmacInput}.${createHmac('sha256', publicPem).update(hmacInput).digest('base64url')}`,
    'algorithm',
  ],
  ['another algorithm than the pinned one', signed({ ...goodHeader, alg: 'RS256' }, goodClaims), 'algorithm'],
  ['a foreign kid', signed({ ...goodHeader, kid: 'theirs' }, goodClaims, theirs.privateKey), 'key'],
  ['a foreign key under our kid', signed(goodHeader, goodClaims, theirs.privateKey), 'signature'],
  ['no kid', signed({ alg: 'ES256', typ: 'at+jwt' }, goodClaims), 'key'],
  ['a critical extension', signed({ ...goodHeader, crit: ['b64'], b64: false }, goodClaims), 'malformed'],
  ['tampered claims', `${head}.${encode({ ...goodClaims, sub: 'user-2' })}.${signature}`, 'signature'],
  ['an ID token', signed({ ...goodHeader, typ: 'JWT' }, goodClaims), 'type'],
  ['token_use id_token', signed(goodHeader, { ...goodClaims, token_use: 'id_token' }), 'use'],
  ['another issuer', signed(goodHeader, { ...goodClaims, iss: `${issuer}/` }), 'issuer'],
  ['another audience', signed(goodHeader, { ...goodClaims, aud: 'partner' }), 'audience'],
  ['two audiences', signed(goodHeader, { ...goodClaims, aud: ['design-api', 'x'] }), 'audience'],
  ['no openid', signed(goodHeader, { ...goodClaims, scope: 'email openid2' }), 'scope'],
  ['scope as a list', signed(goodHeader, { ...goodClaims, scope: ['openid'] }), 'scope'],
  ['no sub', signed(goodHeader, { ...goodClaims, sub: '' }), 'subject'],
  ['exp as text', signed(goodHeader, { ...goodClaims, exp: `${seconds + 900}` }), 'malformed'],
  ['padding', `${good}=`, 'no token'],
  ['a fourth part', `${good}.AA`, 'malformed'],
  ['claims that are a list', signed(goodHeader, [goodClaims]), 'malformed'],
];

test.each(forgeries)('%s is refused [R16.1 R16.3]', async (_what, token, refusal) => {
  expect(await refusalOf(token)).toBe(refusal);
});

test('a changed character anywhere is refused', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(good.length - 1), fc.constantFrom(...'AZaz09-_.'), async (place, character) => {
      fc.pre(good[place] !== character);
      await refusalOf(`${good.slice(0, place)}${character}${good.slice(place + 1)}`);
    }),
  );
});

test('no authorization, another scheme, two tokens: refused', async () => {
  const { authenticate } = verification();
  for (const authorization of [
    undefined,
    '',
    'Bearer',
    'Bearer ',
    `Basic ${good}`,
    good,
    `Bearer ${good} ${good}`,
  ])
    await expect(authenticate(authorization)).rejects.toMatchObject({ code: 'invalid_token' });
});

test('a token ends at the very second of exp, also when it was seen before [R16.4]', async () => {
  const { authenticate, clock } = verification();
  clock.now = (seconds + 900) * 1_000 - 1;
  expect(await authenticate(`Bearer ${good}`)).toBe('user-1');
  clock.now += 1;
  await expect(authenticate(`Bearer ${good}`)).rejects.toMatchObject({ code: 'invalid_token' });
});

test('iat may lie five seconds ahead and no more [R16.4]', async () => {
  const { authenticate, clock } = verification();
  clock.now = (seconds - 5) * 1_000 - 1;
  await expect(authenticate(`Bearer ${good}`)).rejects.toMatchObject({ code: 'invalid_token' });
  clock.now += 1;
  expect(await authenticate(`Bearer ${good}`)).toBe('user-1');
});

test('a remembered token is refused once its key has left the set', async () => {
  let keys: readonly PublishedKey[] = [published];
  const { authenticate, clock, keySet } = verification(async () => keys);
  expect(await authenticate(`Bearer ${good}`)).toBe('user-1');
  keys = [publish('theirs', theirs.publicKey)];
  clock.now += 30_000;
  await keySet.refreshOlderThan(30_000);
  await expect(authenticate(`Bearer ${good}`)).rejects.toMatchObject({ code: 'invalid_token' });
});

test('while no key set was ever fetched nothing is known about a token: temporarily_unavailable (R14)', async () => {
  const { authenticate } = verification(() => Promise.reject(new Error('away')));
  await expect(authenticate(`Bearer ${good}`)).rejects.toMatchObject({ code: 'temporarily_unavailable' });
});
