// Which access tokens open the resource API and user-info (R16, §5), with keys of our own in the key set. Other forgeries
// are tried beside the code that both services verify with: services/design-catalog/src/tokens/access-token.test.ts.
import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { type JWTPayload, SignJWT } from 'jose';
import { afterAll, beforeAll, expect, vi } from 'vitest';
import { send } from '../support/http.ts';
import {
  api,
  begin,
  browserOf,
  full,
  grant,
  issuer,
  oidc,
  storeTest as test,
  typical,
  withoutStores,
} from './deployment.ts';
import { expectDeparture, expectError } from './expectations.ts';
import { sql } from './throwaway.ts';

/** Until every process has read the keys. */
const patience = { timeout: 45_000, interval: 200 };
const now = () => Math.floor(Date.now() / 1_000);
const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' });
let key: Awaited<ReturnType<typeof publishKey>>;
let rsaKey: typeof key;

beforeAll(async () => {
  if (withoutStores) return;
  key = await publishKey('ES256', generateKeyPairSync('ec', { namedCurve: 'P-256' }));
  rsaKey = await publishKey('RS256', generateKeyPairSync('rsa', { modulusLength: 2048 }));
  const good = await key.sign(claims());
  await vi.waitFor(async () => expect((await api('/api/events', good)).status).toBe(200), patience);
}, 60_000);
afterAll(async () => {
  if (!withoutStores) await Promise.all([key.withdraw(), rsaKey.withdraw()]);
});

/** Publishes a key as staged, which never signs for identity. */
async function publishKey(alg: 'ES256' | 'RS256', pair: { privateKey: KeyObject; publicKey: KeyObject }) {
  const kid = `test-${randomBytes(8).toString('hex')}`;
  await sql(
    "insert into identity.signing_keys (kid, algorithm, public_jwk, private_key, state) values ($1, $2, $3, 'x', 'staged')",
    kid,
    alg,
    pair.publicKey.export({ format: 'jwk' }),
  );
  await vi.waitFor(async () => expect((await send(oidc.jwks_uri)).text).toContain(kid), patience);
  return {
    /** Signs claims; `header` stands above the usual one. */
    sign: (payload: JWTPayload, header = {}, signingKey = pair.privateKey) =>
      new SignJWT(payload).setProtectedHeader({ alg, typ: 'at+jwt', kid, ...header }).sign(signingKey),
    withdraw: () => sql('delete from identity.signing_keys where kid = $1', kid),
  };
}

/** Claims as identity writes them for an access token of the typical user. */
function claims(changes: JWTPayload = {}): JWTPayload {
  return {
    iss: issuer,
    aud: 'design-api',
    sub: typical.sub,
    client_id: full.clientId,
    scope: 'openid email profile',
    token_use: 'access_token',
    iat: now(),
    exp: now() + 900,
    jti: randomBytes(12).toString('base64url'),
    ...changes,
  };
}

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
    const token = await key.sign(claims({ iat: exp - 900, exp }));
    const seen = await statuses(token);
    // If the machine stalled until its exp, the token shows nothing, and another one is tried.
    if (Date.now() >= exp * 1_000) return live();
    expect(seen).toEqual([200, 200]);
    return token;
  };
  const token = await live();
  await new Promise((resolve) => setTimeout(resolve, 4_100));
  expect(await statuses(token)).toEqual([401, 401]);
});

test('iat may be 5 s ahead, not more [R16.4]', async () => {
  expect(await statuses(await key.sign(claims({ iat: now() + 4 })))).toEqual([200, 200]);
  expect(await statuses(await key.sign(claims({ iat: now() + 12 })))).toEqual([401, 401]);
});

test.each<[string, JWTPayload]>([
  ['another issuer', { iss: 'https://evil.example' }],
  ['another audience', { aud: full.clientId }],
  ['token_use id_token', { token_use: 'id_token' }],
  ['no openid', { scope: 'email profile' }],
])('a well-signed token with %s is refused [S5.api.2 S5.api.3 R16.1 R16.3 R21.2]', async (_, changes) => {
  expect(await statuses(await key.sign(claims(changes)))).toEqual([401, 401]);
});

test('a key is taken from the key set alone, by the kid, and the algorithm is pinned [R16.1 R16.2]', async () => {
  const jwk = stranger.publicKey.export({ format: 'jwk' });
  const foreign = { jku: 'http://127.0.0.1:9/none', jwk };
  expect(await statuses(await key.sign(claims(), foreign))).toEqual([200, 200]);
  const [, payload] = (await key.sign(claims())).split('.');
  for (const token of [
    await key.sign(claims(), foreign, stranger.privateKey),
    await key.sign(claims(), { kid: 'nobody' }),
    await key.sign(claims(), { typ: 'JWT' }),
    await rsaKey.sign(claims()),
    `${Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url')}.${payload}.`,
  ])
    expect(await statuses(token)).toEqual([401, 401]);
});

test('id_token_hint may be expired [R5.9]', async () => {
  await grant();
  const expired = {
    iss: issuer,
    sub: typical.sub,
    aud: full.clientId,
    iat: now() - 9_000,
    exp: now() - 8_100,
  };
  const id_token_hint = await rsaKey.sign({ ...expired, token_use: 'id_token' }, { typ: 'JWT' });
  const outcome = await begin(browserOf(typical), full, { prompt: 'none', id_token_hint });
  expect(expectDeparture(outcome).parameters.get('code')).not.toBeNull();
});
