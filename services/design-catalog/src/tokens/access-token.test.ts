import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import type { RefusedToken, TokenRefusal } from '@course-exchange/rules/token-verification';
import { logText } from '@course-exchange/runtime/process/logger';
import fc from 'fast-check';
import type { JWK } from 'jose';
import { expect, test } from 'vitest';
import { createTokenVerification } from './access-token.ts';
import { createKeySet } from './key-set.ts';

const issuer = 'https://exchange.example';
const seconds = 1_800_000_000;
const ours = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const theirs = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const published = publish('ours', ours.publicKey);

function publish(kid: string, key: KeyObject): JWK {
  const { x = '', y = '' } = key.export({ format: 'jwk' });
  return { kid, alg: 'ES256', kty: 'EC', crv: 'P-256', x, y };
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

const grant = { owner: 'user-1', client: 'partner' };

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function signed(header: object, claims: object, key: KeyObject = ours.privateKey): string {
  const input = `${encode(header)}.${encode(claims)}`;
  const signature = sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' });
  return `${input}.${signature.toString('base64url')}`;
}

function verification(keys: () => Promise<readonly JWK[]> = async () => [published]) {
  const clock = { now: seconds * 1_000 };
  const refusals: RefusedToken[] = [];
  const keySet = createKeySet({
    fetchJwks: async () => JSON.stringify({ keys: await keys() }),
    algorithm: 'ES256',
    now: () => clock.now,
  });
  const authenticate = createTokenVerification({
    issuer,
    algorithm: 'ES256',
    keySet,
    now: () => clock.now,
    keyedUser: (owner) => logText(`hash of ${owner}`),
    refused: (refused) => refusals.push(refused),
  });
  return { authenticate, clock, keySet, refusals };
}

async function refusalOf(token: string): Promise<RefusedToken | undefined> {
  const { authenticate, refusals } = verification();
  await expect(authenticate(token)).rejects.toMatchObject({ code: 'invalid_token' });
  return refusals[0];
}

test('a good token names its owner, again and again', async () => {
  const { authenticate } = verification();
  const token = signed(goodHeader, goodClaims);
  expect(await authenticate(token)).toMatchObject({ ...grant, user: 'hash of user-1' });
  expect(await authenticate(token)).toMatchObject(grant);
});

test('jku, jwk and x5u are not looked at: the key is the one of our set [R16.2]', async () => {
  const jwk = theirs.publicKey.export({ format: 'jwk' });
  const header = { ...goodHeader, jku: 'https://evil.example/keys', jwk, x5u: 'https://evil.example/x' };
  expect(await verification().authenticate(signed(header, goodClaims))).toMatchObject(grant);
  expect(await refusalOf(signed(header, goodClaims, theirs.privateKey))).toMatchObject({
    reason: 'signature',
  });
});

const publicPem = ours.publicKey.export({ format: 'pem', type: 'spki' });
const hmacInput = `${encode({ ...goodHeader, alg: 'HS256' })}.${encode(goodClaims)}`;
const hmac = createHmac('sha256', publicPem).update(hmacInput).digest('base64url');
const unsigned = `${encode({ ...goodHeader, alg: 'none' })}.${encode(goodClaims)}`;
const good = signed(goodHeader, goodClaims);
const [head = '', , signature = ''] = good.split('.');
const forgeries: readonly [string, string, TokenRefusal][] = [
  ['alg none without signature', `${unsigned}.`, 'malformed'],
  ['alg none with the good signature', `${unsigned}.${signature}`, 'algorithm'],
  ['HS256 with the public key as secret', `${hmacInput}.${hmac}`, 'algorithm'],
  ['another algorithm than the pinned one', signed({ ...goodHeader, alg: 'RS256' }, goodClaims), 'algorithm'],
  ['a foreign kid', signed({ ...goodHeader, kid: 'theirs' }, goodClaims, theirs.privateKey), 'key'],
  ['a foreign key under our kid', signed(goodHeader, goodClaims, theirs.privateKey), 'signature'],
  ['no kid', signed({ alg: 'ES256', typ: 'at+jwt' }, goodClaims), 'key'],
  ['a critical extension', signed({ ...goodHeader, crit: ['b64'], b64: false }, goodClaims), 'malformed'],
  ['one that changes nothing', signed({ ...goodHeader, crit: ['b64'], b64: true }, goodClaims), 'malformed'],
  ['another type and kid', signed({ ...goodHeader, kid: 'theirs', typ: 'JWT' }, goodClaims), 'type'],
  ['tampered claims', `${head}.${encode({ ...goodClaims, sub: 'user-2' })}.${signature}`, 'signature'],
  ['an ID token', signed({ ...goodHeader, typ: 'JWT' }, goodClaims), 'type'],
  ['the media type as typ', signed({ ...goodHeader, typ: 'application/at+jwt' }, goodClaims), 'type'],
  ['a typ in capitals', signed({ ...goodHeader, typ: 'AT+JWT' }, goodClaims), 'type'],
  ['no exp', signed(goodHeader, { ...goodClaims, exp: undefined }), 'malformed'],
  ['no iat', signed(goodHeader, { ...goodClaims, iat: undefined }), 'malformed'],
  ['token_use id_token', signed(goodHeader, { ...goodClaims, token_use: 'id_token' }), 'use'],
  ['another issuer', signed(goodHeader, { ...goodClaims, iss: `${issuer}/` }), 'issuer'],
  ['another audience', signed(goodHeader, { ...goodClaims, aud: 'partner' }), 'audience'],
  ['two audiences', signed(goodHeader, { ...goodClaims, aud: ['design-api', 'x'] }), 'audience'],
  ['no openid', signed(goodHeader, { ...goodClaims, scope: 'email openid2' }), 'scope'],
  ['scope as a list', signed(goodHeader, { ...goodClaims, scope: ['openid'] }), 'scope'],
  ['no sub', signed(goodHeader, { ...goodClaims, sub: undefined }), 'subject'],
  ['an empty sub', signed(goodHeader, { ...goodClaims, sub: '' }), 'subject'],
  ['exp as text', signed(goodHeader, { ...goodClaims, exp: `${seconds + 900}` }), 'malformed'],
  ['padding', `${good}=`, 'malformed'],
  ['another text of the signature', respelled(good), 'malformed'],
  ['a fourth part', `${good}.AA`, 'malformed'],
  ['claims that are a list', signed(goodHeader, [goodClaims]), 'malformed'],
];

/** The last of a signature's 86 characters carries two bits that decode to nothing. */
function respelled(token: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  return token.slice(0, -1) + alphabet[alphabet.indexOf(token.slice(-1)) + 1];
}

test.each(forgeries)('%s is refused [R16.1 R16.3]', async (_what, token, refusal) => {
  expect(await refusalOf(token)).toMatchObject({ reason: refusal });
});

test('a changed character anywhere is refused', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(good.length - 1), fc.constantFrom(...'AZaz09-_.'), async (place, character) => {
      fc.pre(good[place] !== character);
      await refusalOf(`${good.slice(0, place)}${character}${good.slice(place + 1)}`);
    }),
  );
});

test('a token that is remembered opens nothing to another one: of another user, or of another signature', async () => {
  const { authenticate } = verification();
  await authenticate(good);
  const other = signed(goodHeader, { ...goodClaims, sub: 'user-2' });
  expect(await authenticate(other)).toMatchObject({ owner: 'user-2' });
  const forged = signed(goodHeader, goodClaims, theirs.privateKey);
  await expect(authenticate(forged)).rejects.toMatchObject({ code: 'invalid_token' });
});

test('a token ends at the very second of exp, also when it was seen before [R16.4]', async () => {
  const { authenticate, clock } = verification();
  clock.now = (seconds + 900) * 1_000 - 1;
  expect(await authenticate(good)).toMatchObject(grant);
  clock.now += 1;
  await expect(authenticate(good)).rejects.toMatchObject({ code: 'invalid_token' });
});

test.each([
  ['an expired one', signed(goodHeader, { ...goodClaims, exp: seconds }), 'partner'],
  ['one without openid', signed(goodHeader, { ...goodClaims, scope: 'email' }), 'partner'],
  ['one for another audience', signed(goodHeader, { ...goodClaims, aud: 'partner' }), 'partner'],
  ['a forged one', signed(goodHeader, { ...goodClaims, exp: seconds }, theirs.privateKey), undefined],
  ['a made-up name', signed(goodHeader, { ...goodClaims, exp: seconds, client_id: 'a b' }), undefined],
])('a refused token names its client where the signature is ours: %s', async (_what, token, client) => {
  expect((await refusalOf(token))?.client).toBe(client);
});

test('iat may lie five seconds ahead and no more [R16.4]', async () => {
  const { authenticate, clock } = verification();
  clock.now = (seconds - 5) * 1_000 - 1;
  await expect(authenticate(good)).rejects.toMatchObject({ code: 'invalid_token' });
  clock.now += 1;
  expect(await authenticate(good)).toMatchObject(grant);
});

test('a remembered token is refused once its key has left the set', async () => {
  let keys: readonly JWK[] = [published];
  const { authenticate, clock, keySet } = verification(async () => keys);
  expect(await authenticate(good)).toMatchObject(grant);
  keys = [publish('theirs', theirs.publicKey)];
  clock.now += 30_000;
  await keySet.refreshOlderThan(30_000);
  await expect(authenticate(good)).rejects.toMatchObject({ code: 'invalid_token' });
});

test('nothing is known about a token before the first key set: temporarily_unavailable (R14.1)', async () => {
  const { authenticate } = verification(() => Promise.reject(new Error('away')));
  await expect(authenticate(good)).rejects.toMatchObject({ code: 'temporarily_unavailable' });
});
