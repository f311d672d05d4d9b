// Signs JWTs (RFC 7519) with the key ring's keys, and finds those that verify them. Signing is by hand, since it is the
// dearest step of a refresh (decision 0021).
import { type KeyObject, sign } from 'node:crypto';
import { promisify } from 'node:util';
import type { FindKey } from '@course-exchange/rules/token-verification';
import type { KeyRing, SigningKey } from '../keys/ring.ts';
import type { SigningAlgorithm } from '../keys/signing-key.ts';

export type Claims = Readonly<Record<string, unknown>>;

const signInThreadPool = promisify(sign);

/**
 * Signs `claims`. RS256 goes to the thread pool: 360 µs would hold up every other request. ES256 stays here:
 * its 34 µs cost a quarter more through the pool.
 */
export async function signJwt(key: SigningKey, type: string, claims: Claims): Promise<string> {
  const header = { alg: key.algorithm, typ: type, kid: key.kid };
  const input = `${encode(header)}.${encode(claims)}`;
  const signature =
    key.algorithm === 'ES256'
      ? sign('sha256', Buffer.from(input), { key: key.privateKey, dsaEncoding: 'ieee-p1363' })
      : await signInThreadPool('sha256', Buffer.from(input), key.privateKey);
  return `${input}.${signature.toString('base64url')}`;
}

function encode(value: Claims): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

/** For the verification of a JWT that is signed with `algorithm`. */
export function publishedKey(keys: KeyRing, algorithm: SigningAlgorithm): FindKey<KeyObject> {
  return (kid) => {
    const key = keys.verificationKey(kid);
    return key?.algorithm === algorithm ? key.publicKey : undefined;
  };
}
