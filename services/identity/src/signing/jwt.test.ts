import { createHmac, randomBytes, sign } from 'node:crypto';
import { Secret } from '@course-exchange/runtime/secret';
import { decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import { beforeAll, expect, test } from 'vitest';
import type { ClientId, Sub } from '../domain/ids.ts';
import { type AccessTokens, issueAccessToken, verifyAccessToken } from './access-token.ts';
import { issueIdToken, readIdTokenHint } from './id-token.ts';
import { signJwt } from './jwt.ts';
import { generateSigningKey } from './key-generation.ts';
import { createKeyRing, type KeyRing } from './key-ring.ts';

const key = new Secret(randomBytes(32));
const now = 1_800_000_000;
const issuer = 'https://id.example';
const clientId = 'partner' as ClientId;
const sub = 'sub-1' as Sub;
const grant = { sub, clientId, scopes: ['openid', 'email'] as const };
const user = { sub, email: 'ada@example.org', emailVerified: true, name: 'Ada' };
let keys: KeyRing;
let tokens: AccessTokens;

beforeAll(async () => {
  const stored = await Promise.all([
    generateSigningKey('ES256', key, randomBytes),
    generateSigningKey('RS256', key, randomBytes),
  ]);
  keys = createKeyRing({
    readKeys: async () => stored.map((one) => ({ ...one, state: 'active' as const })),
    keyEncryptionKey: key,
    needed: ['ES256', 'RS256'],
  });
  await keys.refresh();
  tokens = { keys, issuer, algorithm: 'ES256' };
});

test('an access token carries exactly its claims and opens for its lifetime (R15, R16)', async () => {
  const token = await issueAccessToken(tokens, grant, now, 'id-1');
  expect(decodeProtectedHeader(token)).toEqual({
    alg: 'ES256',
    typ: 'at+jwt',
    kid: keys.signingKey('ES256').kid,
  });
  expect(decodeJwt(token)).toEqual({
    iss: issuer,
    aud: 'design-api',
    sub,
    client_id: clientId,
    scope: 'openid email',
    token_use: 'access_token',
    iat: now,
    exp: now + 900,
    jti: 'id-1',
  });
  expect(verifyAccessToken(tokens, token, now + 899)).toEqual(grant);
});

test('no leeway at exp, five seconds for iat (R16)', async () => {
  const token = await issueAccessToken(tokens, grant, now, 'id-1');
  expect(verifyAccessToken(tokens, token, now + 900)).toBeUndefined();
  expect(verifyAccessToken(tokens, token, now - 5)).toBeDefined();
  expect(verifyAccessToken(tokens, token, now - 6)).toBeUndefined();
});

test('an ID token carries exactly the claims of the specification, RS256; jose accepts it (R15)', async () => {
  const plain = await issueIdToken(tokens, user, { clientId, nonce: '', authTime: undefined }, now);
  const { publicKey } = keys.verificationKey(keys.signingKey('RS256').kid) ?? {};
  if (publicKey === undefined) throw new Error('no key');
  const { payload } = await jwtVerify(plain, publicKey, {
    issuer,
    audience: clientId,
    algorithms: ['RS256'],
    currentDate: new Date(now * 1000),
  });
  const claims = {
    iss: issuer,
    sub,
    aud: clientId,
    email: 'ada@example.org',
    email_verified: true,
    name: 'Ada',
    token_use: 'id_token',
    iat: now,
    exp: now + 900,
  };
  expect(payload).toEqual(claims);
  const asked = await issueIdToken(tokens, user, { clientId, nonce: 'n', authTime: now - 9 }, now);
  expect(decodeJwt(asked)).toEqual({ ...claims, nonce: 'n', auth_time: now - 9 });
});

test('an ID token is no access token, and an access token is no hint (R16)', async () => {
  const idToken = await issueIdToken(tokens, user, { clientId, nonce: '', authTime: undefined }, now);
  expect(verifyAccessToken(tokens, idToken, now)).toBeUndefined();
  expect(verifyAccessToken({ ...tokens, algorithm: 'RS256' }, idToken, now)).toBeUndefined();
  expect(readIdTokenHint(tokens, await issueAccessToken(tokens, grant, now, 'x'), clientId)).toBeUndefined();
  expect(readIdTokenHint(tokens, idToken, clientId)).toBe(sub);
  expect(readIdTokenHint(tokens, idToken, 'other' as ClientId)).toBeUndefined();
  expect(readIdTokenHint({ keys, issuer: 'https://else.example' }, idToken, clientId)).toBeUndefined();
});

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

test('forgeries are refused: none, HS256 with the public key, foreign kid, crit, tampered (R16)', async () => {
  const token = await issueAccessToken(tokens, grant, now, 'id-1');
  const [head = '', body = '', signature = ''] = token.split('.');
  const header = decodeProtectedHeader(token);
  const { publicKey } = keys.verificationKey(String(header.kid)) ?? {};
  const hmacInput = `${part({ ...header, alg: 'HS256' })}.${body}`;
  const hmacKey = String(publicKey?.export({ format: 'pem', type: 'spki' }));
  const forgeries = [
    `${part({ ...header, alg: 'none' })}.${body}.`,
    `${part({ ...header, alg: 'none' })}.${body}.${signature}`,
    `${hmacInput}.${createHmac('sha256', hmacKey).update(hmacInput).digest('base64url')}`,
    `${part({ ...header, kid: 'other' })}.${body}.${signature}`,
    `${part({ ...header, kid: '__proto__' })}.${body}.${signature}`,
    `${head}.${part({ ...decodeJwt(token), sub: 'sub-2' })}.${signature}`,
    `${head}.${body}.${signature}A`,
    `${head}.${body}`,
    '',
  ];
  for (const forgery of forgeries) expect(verifyAccessToken(tokens, forgery, now)).toBeUndefined();
});

test('jwk, jku and x5u in the header are never looked at, and crit is refused (R16)', async () => {
  const { kid, privateKey } = keys.signingKey('ES256');
  const claims = decodeJwt(await issueAccessToken(tokens, grant, now, 'id-1'));
  const signed = (header: Record<string, unknown>) => {
    const input = `${part({ alg: 'ES256', typ: 'at+jwt', kid, ...header })}.${part(claims)}`;
    const signature = sign('sha256', Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' });
    return `${input}.${signature.toString('base64url')}`;
  };
  expect(verifyAccessToken(tokens, signed({ jku: 'https://evil.example' }), now)).toBeDefined();
  expect(verifyAccessToken(tokens, signed({ crit: ['exp'] }), now)).toBeUndefined();
});

test('issuer, audience, token_use and type are each pinned (R16)', async () => {
  const signingKey = keys.signingKey('ES256');
  const claims = decodeJwt(await issueAccessToken(tokens, grant, now, 'id-1'));
  for (const change of [{ iss: 'https://x' }, { aud: clientId }, { token_use: 'id_token' }, { exp: '9' }]) {
    const token = await signJwt(signingKey, 'at+jwt', { ...claims, ...change });
    expect(verifyAccessToken(tokens, token, now)).toBeUndefined();
  }
  expect(verifyAccessToken(tokens, await signJwt(signingKey, 'JWT', claims), now)).toBeUndefined();
});
