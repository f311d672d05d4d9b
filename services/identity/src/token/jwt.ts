// The JWTs (RFC 7519) of identity: access tokens (R15), and ID tokens with exactly the claims of specification §2.
// Signed by hand (decision 0021).
import { type KeyObject, sign } from 'node:crypto';
import { promisify } from 'node:util';
import {
  accessTokenType,
  accessTokenUse,
  apiAudience,
  tokenLifetime,
} from '@course-exchange/rules/access-token';
import { inSeconds } from '@course-exchange/rules/brand';
import {
  type FindKey,
  type RefusedToken,
  verifyAccessToken,
  verifyJwt,
} from '@course-exchange/rules/token-verification';
import { logText } from '@course-exchange/runtime/process/logger';
import { annotate } from '@course-exchange/runtime/process/spans';
import { formatScope } from '../clients/scope.ts';
import type { ClientId, Sub } from '../ids.ts';
import type { KeyRing, SigningKey } from '../keys/ring.ts';
import type { SigningAlgorithm } from '../keys/signing-key.ts';
import type { User } from '../users/user.ts';
import type { AuthorizationCode, GrantRecord } from './grant-record.ts';

export const idTokenAlgorithm: SigningAlgorithm = 'RS256';

export function algorithmsInUse(accessTokens: SigningAlgorithm): readonly SigningAlgorithm[] {
  return [...new Set([idTokenAlgorithm, accessTokens])];
}

/** `algorithm`: of access tokens. */
export interface TokenIssuer {
  readonly keys: KeyRing;
  readonly issuer: string;
  readonly algorithm: SigningAlgorithm;
}

type AccessGrant = Pick<GrantRecord, 'sub' | 'clientId' | 'scopes'>;

/** `now` in milliseconds since the epoch, `id` unique. */
export function issueAccessToken(
  { keys, issuer, algorithm }: TokenIssuer,
  { sub, clientId, scopes }: AccessGrant,
  now: number,
  id: string,
): Promise<string> {
  const key = keys.signingKey(algorithm);
  annotate(() => ({ 'course_exchange.access_token.kid': logText(key.kid) }));
  return signJwt(key, accessTokenType, {
    iss: issuer,
    aud: apiAudience,
    sub,
    client_id: clientId,
    scope: formatScope(scopes),
    token_use: accessTokenUse,
    ...validFrom(now),
    jti: id,
  });
}

interface ReadAccessToken extends Omit<AccessGrant, 'scopes'> {
  readonly kind: 'verified';
}

/** `now` in milliseconds since the epoch. */
export async function readAccessToken(
  { keys, issuer, algorithm }: TokenIssuer,
  token: string,
  now: number,
): Promise<ReadAccessToken | RefusedToken> {
  const findKey = publishedKey(keys, algorithm);
  const verified = await verifyAccessToken(token, { issuer, algorithm }, findKey, now);
  if (verified.kind === 'refused') return verified;
  return { kind: 'verified', sub: verified.sub as Sub, clientId: verified.clientId as ClientId };
}

/** `now` in milliseconds since the epoch. */
function validFrom(now: number) {
  const iat = inSeconds(now);
  return { iat, exp: iat + tokenLifetime };
}

export type IdTokenRequest = Pick<AuthorizationCode, 'clientId' | 'nonce' | 'authTime'>;

const idTokenType = 'JWT';
const idTokenUse = 'id_token';

/** `now` in milliseconds since the epoch. */
export function issueIdToken(
  { keys, issuer }: TokenIssuer,
  { sub, email, emailVerified, name }: Omit<User, 'disabled' | 'signedOutAt'>,
  { clientId, nonce, authTime }: IdTokenRequest,
  now: number,
): Promise<string> {
  return signJwt(keys.signingKey(idTokenAlgorithm), idTokenType, {
    iss: issuer,
    sub,
    aud: clientId,
    email,
    email_verified: emailVerified,
    name,
    token_use: idTokenUse,
    ...validFrom(now),
    ...(nonce === '' ? {} : { nonce }),
    ...(authTime === undefined ? {} : { auth_time: authTime }),
  });
}

/** The user, if this issuer made the token for `clientId`; ignores its expiry (R5.9). */
export async function readIdTokenHint(
  { keys, issuer }: TokenIssuer,
  hint: string,
  clientId: ClientId,
): Promise<Sub | undefined> {
  const expected = { algorithm: idTokenAlgorithm, type: idTokenType, issuer, audience: clientId };
  const verified = await verifyJwt(hint, expected, publishedKey(keys, idTokenAlgorithm), 'anyAge');
  if (verified.kind === 'refused') return undefined;
  const { claims } = verified;
  return claims.token_use === idTokenUse && typeof claims.sub === 'string' ? (claims.sub as Sub) : undefined;
}

export type Claims = Readonly<Record<string, unknown>>;

const signInThreadPool = promisify(sign);

/** RS256 is slow: in the thread pool. */
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

function publishedKey(keys: KeyRing, algorithm: SigningAlgorithm): FindKey<KeyObject> {
  return (kid) => {
    const key = keys.verificationKey(kid);
    return key?.algorithm === algorithm ? key.publicKey : undefined;
  };
}
