// Decides whose designs a call may read: verifies its access token by itself, whatever the gateway did before
// (specification §5, R16).
import { constants, createHash, type KeyObject, verify } from 'node:crypto';
import { Failure } from '@course-exchange/runtime/failure';
import {
  type Admission,
  admit,
  namedKey,
  type Refusal,
  type TokenAlgorithm,
} from '../domain/access-token.ts';
import type { Owner } from '../domain/ids.ts';
import { bearerToken, readToken, type UnverifiedToken } from '../domain/token-format.ts';
import type { KeySet } from './key-set.ts';

/**
 * The owner named by a call's `authorization` metadata. Throws `invalid_token` for anything but a valid
 * access token, `temporarily_unavailable` while no key set is known.
 */
export type Authenticate = (authorization: string | undefined) => Promise<Owner>;

export interface TokenVerificationOptions {
  readonly issuer: string;
  readonly algorithm: TokenAlgorithm;
  readonly keySet: Pick<KeySet, 'find' | 'holds'>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Told of each refusal; must not be given the token. */
  readonly refused: (refusal: Refusal) => void;
}

interface Verified extends Admission {
  readonly kid: string;
  readonly key: KeyObject;
}

/** Tokens remembered at once; the one remembered first goes first. */
const mostRemembered = 10_000;

/** Remembers verified tokens by their hash until they expire or their key leaves the set. */
export function createTokenVerification(options: TokenVerificationOptions): Authenticate {
  const remembered = new Map<string, Verified>();

  return async (authorization) => {
    const token = bearerToken(authorization);
    if (token === undefined) throw refuse('no token', options);
    const hash = createHash('sha256').update(token).digest('base64');
    const known = remembered.get(hash);
    if (known && options.now() < known.expiresAt && options.keySet.holds(known.kid, known.key))
      return known.owner;
    remembered.delete(hash);
    const verified = await verifyToken(token, options);
    if (typeof verified === 'string') throw refuse(verified, options);
    if (remembered.size >= mostRemembered) remembered.delete(remembered.keys().next().value ?? hash);
    remembered.set(hash, verified);
    return verified.owner;
  };
}

function refuse(refusal: Refusal, { refused }: TokenVerificationOptions): Failure<'invalid_token'> {
  refused(refusal);
  return new Failure('invalid_token', refusal);
}

async function verifyToken(
  compact: string,
  { issuer, algorithm, keySet, now }: TokenVerificationOptions,
): Promise<Verified | Refusal> {
  const token = readToken(compact);
  if (token === undefined) return 'malformed';
  const named = namedKey(token.header, algorithm);
  if (typeof named === 'string') return named;
  const key = await keySet.find(named.kid);
  if (key === undefined) return 'key';
  if (!signedBy(key, token, algorithm)) return 'signature';
  const admission = admit(token.claims, issuer, now());
  return typeof admission === 'string' ? admission : { ...admission, kid: named.kid, key };
}

function signedBy(key: KeyObject, { signingInput, signature }: UnverifiedToken, algorithm: TokenAlgorithm) {
  const scheme =
    algorithm === 'ES256'
      ? ({ key, dsaEncoding: 'ieee-p1363' } as const)
      : { key, padding: constants.RSA_PKCS1_PADDING };
  return verify('sha256', signingInput, scheme, signature);
}
