// Which access tokens open the resource API and user-info (R16, §5), with a key of our own in the key set.
import { createHash, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { decodeProtectedHeader, type JWTPayload, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { send } from '../support/http.ts';
import {
  accessTokenOf,
  api,
  begin,
  browserOf,
  full,
  grant,
  issuer,
  oidc,
  stack,
  storeTest as test,
  typical,
} from './deployment.ts';
import { expectDeparture, expectError } from './expectations.ts';
import { sql } from './throwaway.ts';

const now = () => Math.floor(Date.now() / 1_000);
const withStores = stack.postgres !== undefined;
let key: PublishedKey;
let rsaKey: PublishedKey;

beforeAll(async () => {
  if (!withStores) return;
  const { alg } = decodeProtectedHeader(await accessTokenOf(typical));
  key = await publishKey(alg === 'RS256' ? 'RS256' : 'ES256');
  rsaKey = await publishKey('RS256');
  await untilAccepted(key);
}, 60_000);
afterAll(async () => {
  if (withStores) await Promise.all([key.withdraw(), rsaKey.withdraw()]);
});

async function statuses(token: string): Promise<number[]> {
  const userinfo = await send(oidc.userinfo_endpoint, { headers: { authorization: `Bearer ${token}` } });
  const resource = await api('/api/events', token);
  for (const answer of [userinfo, resource])
    if (answer.status !== 200) expectError(answer, 401, 'invalid_token');
  return [resource.status, userinfo.status];
}

test('a token of a published key is accepted until its exp, and not a second longer [R16.4 S3.access.1 S5.lifetime.2 S7.code.9 R16.2]', async () => {
  const live = async (): Promise<string> => {
    const exp = now() + 4;
    const token = await key.sign(goodClaims({ iat: exp - 900, exp }));
    const seen = await statuses(token);
    // Where the machine stood still until its exp the token says nothing, and another one is tried.
    if (Date.now() >= exp * 1_000) return live();
    expect(seen).toEqual([200, 200]);
    return token;
  };
  const token = await live();
  await new Promise((resolve) => setTimeout(resolve, 4_100));
  expect(await statuses(token)).toEqual([401, 401]);
  expect(await statuses(await key.sign(goodClaims({ iat: now() - 900, exp: now() })))).toEqual([401, 401]);
});

test('iat may be 5 s ahead, not more [R16.4]', async () => {
  expect(await statuses(await key.sign(goodClaims({ iat: now() + 4 })))).toEqual([200, 200]);
  expect(await statuses(await key.sign(goodClaims({ iat: now() + 12 })))).toEqual([401, 401]);
});

describe('a well-signed token with a wrong claim is refused [S5.api.2 S5.api.3 R16.1 R16.3 R21.2]', () => {
  test.each<[string, Record<string, unknown>]>([
    ['another issuer', { iss: 'https://evil.example' }],
    ['the issuer with a slash', { iss: `${issuer}/` }],
    ['no issuer', { iss: undefined }],
    ['another audience', { aud: full.clientId }],
    ['no audience', { aud: undefined }],
    ['token_use id_token', { token_use: 'id_token' }],
    ['no token_use', { token_use: undefined }],
    ['no exp', { exp: undefined }],
    ['exp as a string', { exp: '9999999999' }],
    ['no sub', { sub: undefined }],
    ['no scope', { scope: undefined }],
    ['no openid', { scope: 'email profile' }],
    ['openid as a part of a word', { scope: 'openid2 xopenid' }],
  ])('%s', async (_, changes) => {
    expect(await statuses(await key.sign(goodClaims(changes)))).toEqual([401, 401]);
  });
});

describe('a wrong header or a foreign key is refused [R16.1 R16.2]', () => {
  const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const jwk = stranger.publicKey.export({ format: 'jwk' });
  test.each<[string, Record<string, unknown>]>([
    ['unknown kid', { kid: 'nobody' }],
    ['the kid of another key', {}],
    ['no kid', { kid: undefined }],
    ['its own jwk', { jwk }],
    ['jku', { jku: 'https://evil.example/keys' }],
    ['x5u', { x5u: 'https://evil.example/cert' }],
  ])('%s', async (_, header) => {
    const signer = new SignJWT(goodClaims());
    const token = await signer
      .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: key.kid, ...header })
      .sign(stranger.privateKey);
    expect(await statuses(token)).toEqual([401, 401]);
  });

  test('jku and jwk in a good token are not looked at', async () => {
    const token = await key.sign(goodClaims(), { jku: 'http://127.0.0.1:9/none', jwk });
    expect(await statuses(token)).toEqual([200, 200]);
  });

  test('the algorithm is pinned: none, HS256 with a public key, and another published algorithm', async () => {
    const [, payload] = (await key.sign(goodClaims())).split('.');
    const none = `${Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url')}.${payload}.`;
    const keys = (await send(oidc.jwks_uri)).text;
    const hs256 = await new SignJWT(goodClaims())
      .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', kid: key.kid })
      .sign(createHash('sha256').update(keys).digest());
    for (const token of [none, hs256]) expect(await statuses(token)).toEqual([401, 401]);
    if (decodeProtectedHeader(await accessTokenOf(typical)).alg === 'ES256') {
      expect(await statuses(await rsaKey.sign(goodClaims()))).toEqual([401, 401]);
    }
    expect(await statuses(await key.sign(goodClaims(), { typ: 'JWT' }))).toEqual([401, 401]);
  });
});

test('id_token_hint may be expired; a wrong issuer or audience is not a hint [R5.9]', async () => {
  await grant();
  const claims = {
    iss: issuer,
    sub: typical.sub,
    aud: full.clientId,
    iat: now() - 9_000,
    exp: now() - 8_100,
  };
  const ask = async (changes: Record<string, unknown>) => {
    const id_token_hint = await rsaKey.sign({ ...claims, token_use: 'id_token', ...changes }, { typ: 'JWT' });
    return expectDeparture(await begin(browserOf(typical), full, { prompt: 'none', id_token_hint }));
  };
  expect((await ask({})).parameters.get('code')).not.toBeNull();
  for (const changes of [{ iss: 'https://evil.example' }, { aud: 'another-client' }]) {
    expect((await ask(changes)).parameters.get('code')).toBeNull();
  }
});

type PublishedKey = {
  readonly kid: string;
  /** Signs claims; `header` stands above the usual one. */
  readonly sign: (claims: JWTPayload, header?: Readonly<Record<string, unknown>>) => Promise<string>;
  readonly withdraw: () => Promise<void>;
};

/** Publishes a key as staged, which never signs for identity, and waits until every process knows it. */
async function publishKey(algorithm: 'ES256' | 'RS256'): Promise<PublishedKey> {
  const { privateKey, publicKey } = pair(algorithm);
  const kid = `test-${randomBytes(8).toString('hex')}`;
  await sql(
    "insert into identity.signing_keys (kid, algorithm, public_jwk, private_key, state) values ($1, $2, $3, 'x', 'staged')",
    kid,
    algorithm,
    publicKey.export({ format: 'jwk' }),
  );
  const key: PublishedKey = {
    kid,
    sign: (claims, header = {}) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: algorithm, typ: 'at+jwt', kid, ...header })
        .sign(privateKey),
    withdraw: async () => {
      await sql('delete from identity.signing_keys where kid = $1', kid);
    },
  };
  await until(async () => (await send(oidc.jwks_uri)).text.includes(kid));
  return key;
}

/** Waits until the resource API accepts a good token of this key. */
async function untilAccepted(key: PublishedKey): Promise<void> {
  await until(async () => (await api('/api/events', await key.sign(goodClaims()))).status === 200);
}

/** Claims as identity writes them for an access token of the typical user. */
function goodClaims(changes: JWTPayload = {}): JWTPayload {
  const now = Math.floor(Date.now() / 1_000);
  return {
    iss: issuer,
    aud: 'design-api',
    sub: typical.sub,
    client_id: full.clientId,
    scope: 'openid email profile',
    token_use: 'access_token',
    iat: now,
    exp: now + 900,
    jti: randomBytes(12).toString('base64url'),
    ...changes,
  };
}

function pair(algorithm: 'ES256' | 'RS256'): { privateKey: KeyObject; publicKey: KeyObject } {
  if (algorithm === 'ES256') return generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return generateKeyPairSync('rsa', { modulusLength: 2048 });
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (const begun = Date.now(); Date.now() - begun < 45_000; ) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error('The published key did not reach every process within 45 s.');
}
