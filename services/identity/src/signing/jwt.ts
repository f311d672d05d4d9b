// Writes and checks signed JWTs (RFC 7519) with the key ring's keys.
import { sign, verify } from 'node:crypto';
import { promisify } from 'node:util';
import type { SigningAlgorithm } from '../domain/signing-algorithm.ts';
import type { KeyRing, SigningKey } from './key-ring.ts';

export type Claims = Readonly<Record<string, unknown>>;

const signInThreadPool = promisify(sign);

/**
 * Signs `claims`. RS256 goes to the thread pool: 360 µs would hold up every other request. ES256 stays here:
 * its 34 µs cost a quarter more through the pool.
 */
export async function signJwt(key: SigningKey, type: string, claims: Claims): Promise<string> {
  const input = `${header(key, type)}.${encode(claims)}`;
  const signature =
    key.algorithm === 'ES256'
      ? sign('sha256', Buffer.from(input), { key: key.privateKey, dsaEncoding: 'ieee-p1363' })
      : await signInThreadPool('sha256', Buffer.from(input), key.privateKey);
  return `${input}.${signature.toString('base64url')}`;
}

function header({ algorithm, kid }: SigningKey, type: string): string {
  return encode({ alg: algorithm, typ: type, kid });
}

function encode(value: Claims): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

export interface ExpectedJwt {
  /** Pinned: whatever the header says, no other is tried (R16). */
  readonly algorithm: SigningAlgorithm;
  readonly type: string;
}

const compact = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;

/**
 * The claims of `token` when its signature is by the published key that `kid` names. `jku`, `jwk` and `x5u`
 * are never looked at; `crit` is refused, since no extension is understood. Time and issuer are the caller's
 * to check. Undefined for anything else.
 */
export function verifyJwt(keys: KeyRing, token: string, expected: ExpectedJwt): Claims | undefined {
  if (!compact.test(token)) return undefined;
  const [head = '', body = '', signature = ''] = token.split('.');
  const protectedHeader = decode(head);
  const kid = protectedHeader?.kid;
  if (protectedHeader === undefined || typeof kid !== 'string' || 'crit' in protectedHeader) return undefined;
  const key = keys.verificationKey(kid);
  const matches =
    key?.algorithm === expected.algorithm &&
    protectedHeader.alg === expected.algorithm &&
    protectedHeader.typ === expected.type;
  if (!key || !matches) return undefined;
  const options = { key: key.publicKey, dsaEncoding: 'ieee-p1363' } as const;
  const bytes = Buffer.from(signature, 'base64url');
  // Several texts decode to the same bytes; only the one that we wrote is accepted.
  if (bytes.toString('base64url') !== signature) return undefined;
  return verify('sha256', Buffer.from(`${head}.${body}`), options, bytes) ? decode(body) : undefined;
}

function decode(part: string): Claims | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString());
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Claims)
      : undefined;
  } catch {
    return undefined;
  }
}
