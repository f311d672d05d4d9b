// Identity's own part of verification. The forgeries are in services/design-catalog/src/tokens/access-token.test.ts: both
// services verify by services/rules/src/token-verification.ts.
import { randomBytes } from 'node:crypto';
import { Secret } from '@course-exchange/runtime/process/secret';
import { decodeJwt } from 'jose';
import { expect, test } from 'vitest';
import type { ClientId, Sub } from '../ids.ts';
import { generateSigningKey } from '../keys/private-key.ts';
import { createKeyRing } from '../keys/ring.ts';
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
const stored = await Promise.all([
  generateSigningKey({ keyEncryptionKey: key, randomBytes }, 'ES256'),
  generateSigningKey({ keyEncryptionKey: key, randomBytes }, 'RS256'),
]);
const keys = createKeyRing({
  readKeys: async () => stored.map((one) => ({ ...one, state: 'active' as const, since: 0 })),
  encryptionKeys: [key],
  needed: ['ES256', 'RS256'],
});
await keys.refresh();
const tokens: TokenIssuer = { keys, issuer, algorithm: 'ES256' };

const read = (token: string, at = now, from = tokens) => readAccessToken(from, token, at * 1_000);

test('an access token names user and client until its exp, for its issuer and algorithm alone [R16.1 R16.4]', async () => {
  const token = await issueAccessToken(tokens, grant, now * 1_000, 'id-1');
  expect(await read(token, now + 899)).toEqual({ kind: 'verified', sub, clientId });
  expect(await read(token, now + 900)).toMatchObject({ reason: 'expired' });
  const elsewhere = { ...tokens, issuer: 'https://else.example' };
  expect(await read(token, now, elsewhere)).toMatchObject({ reason: 'issuer' });
  const resigned = await signJwt(keys.signingKey('RS256'), 'at+jwt', decodeJwt(token));
  expect(await read(resigned)).toMatchObject({ reason: 'algorithm' });
});

test('no token is refused until the key set was read (R14.1)', async () => {
  const unread = createKeyRing({ readKeys: async () => [], encryptionKeys: [key], needed: [] });
  const token = await issueAccessToken(tokens, grant, now * 1_000, 'id-1');
  await expect(read(token, now, { ...tokens, keys: unread })).rejects.toMatchObject({
    code: 'temporarily_unavailable',
  });
});

test('an ID token is no access token, and an access token is no hint; a hint may be expired [R5.9 R16.3]', async () => {
  const issue = (at: number) =>
    issueIdToken(tokens, user, { clientId, nonce: '', authTime: undefined }, at * 1_000);
  const idToken = await issue(now);
  const hint = (token: string, by = clientId, from = tokens) => readIdTokenHint(from, token, by);
  expect(await hint(await issue(1_000_000))).toBe(sub);
  expect(await read(idToken)).toHaveProperty('reason');
  expect(await read(idToken, now, { ...tokens, algorithm: 'RS256' })).toHaveProperty('reason');
  expect(await hint(await issueAccessToken(tokens, grant, now * 1_000, 'x'))).toBeUndefined();
  expect(await hint(idToken)).toBe(sub);
  expect(await hint(idToken, 'other' as ClientId)).toBeUndefined();
  expect(await hint(idToken, clientId, { ...tokens, issuer: 'https://else.example' })).toBeUndefined();
});

test('no kid begins with a dash, which partnerctl would take for an option', async () => {
  // One in 64 would.
  const made = Array.from({ length: 400 }, () =>
    generateSigningKey({ keyEncryptionKey: key, randomBytes }, 'ES256'),
  );
  expect((await Promise.all(made)).filter(({ kid }) => kid.startsWith('-'))).toEqual([]);
});
