import { createHmac, randomBytes, sign } from 'node:crypto';
import { Secret } from '@course-exchange/runtime/process/secret';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { beforeAll, expect, test } from 'vitest';
import type { ClientId, Sub } from '../ids.ts';
import { generateSigningKey } from '../keys/private-key.ts';
import { createKeyRing, type KeyRing } from '../keys/ring.ts';
import {
  issueAccessToken,
  issueIdToken,
  readAccessToken,
  readIdTokenHint,
  signJwt,
  type TokenIssuer,
} from './jwt.ts';

const key = new Secret(randomBytes(32));
const now = 1_800_000_000;
const issuer = 'https://id.example';
const clientId = 'partner' as ClientId;
const sub = 'sub-1' as Sub;
const grant = { sub, clientId, scopes: ['openid', 'email'] as const };
const user = { sub, email: 'ada@example.org', emailVerified: true, name: 'Ada' };
let keys: KeyRing;
let tokens: TokenIssuer;

beforeAll(async () => {
  const stored = await Promise.all([
    generateSigningKey({ keyEncryptionKey: key, randomBytes }, 'ES256'),
    generateSigningKey({ keyEncryptionKey: key, randomBytes }, 'RS256'),
  ]);
  keys = createKeyRing({
    readKeys: async () => stored.map((one) => ({ ...one, state: 'active' as const, since: 0 })),
    encryptionKeys: [key],
    needed: ['ES256', 'RS256'],
  });
  await keys.refresh();
  tokens = { keys, issuer, algorithm: 'ES256' };
});

const read = (token: string, at = now, from = tokens) => readAccessToken(from, token, at * 1_000);

test('no leeway at exp, five seconds for iat (R16)', async () => {
  const token = await issueAccessToken(tokens, grant, now, 'id-1');
  expect(await read(token, now + 899)).toEqual({ sub, clientId });
  expect(await read(token, now + 900)).toMatchObject({ reason: 'expired' });
  expect(await read(token, now - 5)).not.toHaveProperty('reason');
  expect(await read(token, now - 6)).toMatchObject({ reason: 'issued later' });
});

test('an ID token is no access token, and an access token is no hint (R16)', async () => {
  const idToken = await issueIdToken(tokens, user, { clientId, nonce: '', authTime: undefined }, now);
  expect(await read(idToken)).toHaveProperty('reason');
  expect(await read(idToken, now, { ...tokens, algorithm: 'RS256' })).toHaveProperty('reason');
  expect(
    await readIdTokenHint(tokens, await issueAccessToken(tokens, grant, now, 'x'), clientId),
  ).toBeUndefined();
  expect(await readIdTokenHint(tokens, idToken, clientId)).toBe(sub);
  expect(await readIdTokenHint(tokens, idToken, 'other' as ClientId)).toBeUndefined();
  expect(
    await readIdTokenHint({ ...tokens, issuer: 'https://else.example' }, idToken, clientId),
  ).toBeUndefined();
});

test('a type in another letter case, a list of audiences and another text of the signature are refused (R16)', async () => {
  const signingKey = keys.signingKey('ES256');
  const token = await issueAccessToken(tokens, grant, now, 'id-1');
  const claims = decodeJwt(token);
  expect(await read(await signJwt(signingKey, 'at+jwt', claims))).not.toHaveProperty('reason');
  for (const type of ['AT+JWT', 'application/at+jwt'])
    expect(await read(await signJwt(signingKey, type, claims))).toHaveProperty('reason');
  const many = await signJwt(signingKey, 'at+jwt', { ...claims, aud: ['design-api', 'other'] });
  expect(await read(many)).toHaveProperty('reason');
  // The last of the 86 characters carries two bits that decode to nothing.
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const next = alphabet[alphabet.indexOf(token.slice(-1)) + 1];
  expect(await read(token.slice(0, -1) + next)).toHaveProperty('reason');
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
  for (const forgery of forgeries) expect(await read(forgery)).toHaveProperty('reason');
});

test('jwk, jku and x5u in the header are never looked at, and crit is refused (R16)', async () => {
  const { kid, privateKey } = keys.signingKey('ES256');
  const claims = decodeJwt(await issueAccessToken(tokens, grant, now, 'id-1'));
  const signed = (header: Record<string, unknown>) => {
    const input = `${part({ alg: 'ES256', typ: 'at+jwt', kid, ...header })}.${part(claims)}`;
    const signature = sign('sha256', Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' });
    return `${input}.${signature.toString('base64url')}`;
  };
  expect(await read(signed({ jku: 'https://evil.example' }))).not.toHaveProperty('reason');
  expect(await read(signed({ crit: ['exp'] }))).toHaveProperty('reason');
});
