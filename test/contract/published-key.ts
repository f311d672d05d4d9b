// A signing key of the test's own, put into the key set through Postgres, so that tokens can be made that
// identity would never sign: expired ones, say, with a good signature.
import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { type JWTPayload, SignJWT } from 'jose';
import { send } from '../support/http.ts';
import { api, full, issuer, oidc, typical } from './deployment.ts';
import { sql } from './throwaway.ts';

export type PublishedKey = {
  readonly kid: string;
  /** Signs claims; `header` stands above the usual one. */
  readonly sign: (claims: JWTPayload, header?: Readonly<Record<string, unknown>>) => Promise<string>;
  readonly withdraw: () => Promise<void>;
};

/** Publishes a key as staged, which never signs for identity, and waits until every process knows it. */
export async function publishKey(algorithm: 'ES256' | 'RS256'): Promise<PublishedKey> {
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
export async function untilAccepted(key: PublishedKey): Promise<void> {
  await until(async () => (await api('/api/events', await key.sign(goodClaims()))).status === 200);
}

/** Claims as identity writes them for an access token of the typical user. */
export function goodClaims(changes: JWTPayload = {}): JWTPayload {
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
