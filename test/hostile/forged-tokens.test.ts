// Access tokens that look right and are not: each is 401 at the resource API and at user-info.
import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { authorizeUrl, discover, logInAndAgree, type Tokens, token, tokensOf } from '../support/flow.ts';
import { sendUntilServed as send } from '../support/http.ts';
import { runningStack } from '../support/running-stack.ts';
import { partnerFor, userWho } from '../support/stack-file.ts';
import { openUserAgent } from '../support/user-agent.ts';

const stack = runningStack();
type Json = Record<string, unknown>;
let tokens: Tokens;
let header: Json;
let claims: Json;
let signature: string;

beforeAll(async () => {
  const { authorization_endpoint, token_endpoint } = await discover(stack.issuer);
  const partner = partnerFor(stack, 'openid', 'email', 'profile');
  const agent = openUserAgent(stack.issuer);
  const start = await agent.visit(authorizeUrl(authorization_endpoint, partner));
  const { parameters } = await logInAndAgree(agent, start, userWho(stack, 'typical season'));
  const form = {
    grant_type: 'authorization_code',
    code: parameters.get('code') ?? '',
    redirect_uri: partner.redirectUris[0],
  };
  tokens = tokensOf(await token(token_endpoint, partner, form));
  const [head = '', body = '', tail = ''] = tokens.access_token.split('.');
  header = JSON.parse(Buffer.from(head, 'base64url').toString());
  claims = JSON.parse(Buffer.from(body, 'base64url').toString());
  signature = tail;
});

const encode = (part: Json): string => Buffer.from(JSON.stringify(part)).toString('base64url');

function forged(changedHeader: Json, changedClaims: Json, seal: (input: string) => string): string {
  const input = `${encode({ ...header, ...changedHeader })}.${encode({ ...claims, ...changedClaims })}`;
  return `${input}.${seal(input)}`;
}

async function expectRefused(accessToken: string, what: string): Promise<void> {
  for (const path of ['/api/events', '/api/events/abc/designs', '/userinfo']) {
    const answer = await send(`${stack.issuer}${path}`, {
      headers: { authorization: `Bearer ${accessToken}` },
    });
    expect([answer.status, answer.text], `${what} at ${path}`).toEqual([401, '{"error":"invalid_token"}']);
  }
}

const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const strangerRsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const es256 = (input: string): string =>
  sign('sha256', Buffer.from(input), { key: stranger.privateKey, dsaEncoding: 'ieee-p1363' }).toString(
    'base64url',
  );
const rs256 = (input: string): string =>
  sign('sha256', Buffer.from(input), strangerRsa.privateKey).toString('base64url');

test('the token that the forgeries start from is good', async () => {
  const answer = await send(`${stack.issuer}/api/events`, {
    headers: { authorization: `Bearer ${tokens.access_token}` },
  });
  expect(answer.status).toBe(200);
});

test('a token without a signature is refused, however "none" is spelled [R16.1]', async () => {
  for (const alg of ['none', 'None', 'NONE', 'nOnE', '']) {
    await expectRefused(
      forged({ alg }, {}, () => ''),
      `alg ${alg}`,
    );
    await expectRefused(
      forged({ alg }, {}, () => signature),
      `alg ${alg} with the old signature`,
    );
  }
});

test('a token sealed with HS256 under a public key is refused [R16.1]', async () => {
  const { jwks_uri } = await discover(stack.issuer);
  const { keys } = (await send(jwks_uri)).json() as { keys: Json[] };
  for (const key of keys) {
    for (const secret of [JSON.stringify(key), String(key.n ?? key.x), JSON.stringify({ keys })]) {
      const hs256 = (input: string): string => createHmac('sha256', secret).update(input).digest('base64url');
      await expectRefused(forged({ alg: 'HS256', kid: key.kid }, {}, hs256), 'HS256');
    }
  }
});

test('a key that the token brings along or points at is not used [R16.2]', async () => {
  const jwk = stranger.publicKey.export({ format: 'jwk' });
  await expectRefused(forged({ jwk }, {}, es256), 'jwk');
  await expectRefused(forged({ jwk: { ...jwk, kid: header.kid } }, {}, es256), 'jwk with our kid');
  await expectRefused(forged({ jku: 'http://127.0.0.1:9/keys' }, {}, es256), 'jku');
  await expectRefused(forged({ x5u: 'http://127.0.0.1:9/chain' }, {}, es256), 'x5u');
});

test('a foreign kid, no kid and another algorithm are refused [R16.1, R16.2]', async () => {
  await expectRefused(forged({ kid: 'foreign' }, {}, es256), 'foreign kid');
  await expectRefused(forged({ kid: undefined }, {}, es256), 'no kid');
  await expectRefused(forged({ kid: '../../etc/passwd' }, {}, es256), 'path as kid');
  await expectRefused(forged({}, {}, es256), 'our kid, strange key');
  await expectRefused(forged({ alg: 'RS256' }, {}, rs256), 'RS256 by a strange key');
  await expectRefused(forged({ alg: 'ES384' }, {}, es256), 'ES384');
  await expectRefused(forged({ crit: ['b64'], b64: false }, {}, es256), 'crit');
  await expectRefused(forged({ crit: ['b64'], b64: true }, {}, es256), 'crit that changes nothing');
});

test('changed claims break the signature', async () => {
  for (const change of [
    { sub: userWho(stack, 'no designs').sub },
    { exp: Number(claims.exp) + 3_600 },
    { scope: 'openid email profile admin' },
    { iss: 'https://evil.example' },
    { aud: 'other-api' },
    { token_use: 'id_token' },
  ]) {
    await expectRefused(
      forged({}, change, () => signature),
      JSON.stringify(change),
    );
  }
});

test('an ID token and a refresh token are no access tokens [R16.3]', async () => {
  await expectRefused(tokens.id_token ?? '', 'ID token');
  await expectRefused(tokens.refresh_token, 'refresh token');
});

test('a token cut, doubled, padded or re-encoded is refused', async () => {
  const whole = tokens.access_token;
  for (const [what, bent] of Object.entries({
    cut: whole.slice(0, -4),
    doubled: `${whole}.${whole}`,
    'without signature': whole.slice(0, whole.lastIndexOf('.') + 1),
    'two parts': whole.slice(0, whole.lastIndexOf('.')),
    padded: `${whole}==`,
    'DER signature': `${whole.slice(0, whole.lastIndexOf('.'))}.${Buffer.from(`30${signature}`).toString('base64url')}`,
    long: whole.padEnd(12_000, 'A'),
    dots: '...',
  })) {
    await expectRefused(bent, what);
  }
});

test('a forged token is refused at the same path for a foreign and for an own event', async () => {
  const answers = await Promise.all(
    ['abc', 'e30', '%00'].map((id) =>
      send(`${stack.issuer}/api/events/${id}/designs`, { headers: { authorization: 'Bearer forged' } }),
    ),
  );
  expect(new Set(answers.map((answer) => `${answer.status}${answer.text}`)).size).toBe(1);
});
