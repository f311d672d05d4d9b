// Verifies a JWT of this issuer (R16.1, R16.2). Also refuses what jose accepts but we never issue.
import {
  type CryptoKey,
  errors,
  type JWTHeaderParameters,
  type JWTPayload,
  jwtVerify,
  type KeyObject,
} from 'jose';
import { accessTokenType, accessTokenUse, apiAudience, isClientId, issuedLeeway } from './access-token.ts';

/** For logs and metrics. Callers learn `invalid_token`. */
export const tokenRefusals = [
  'no_token',
  'malformed',
  'algorithm',
  'type',
  'key',
  'signature',
  'issuer',
  'audience',
  'use',
  'expired',
  'issued_later',
  'subject',
  'scope',
] as const;
export type TokenRefusal = (typeof tokenRefusals)[number];

export interface RefusedToken {
  readonly kind: 'refused';
  readonly reason: TokenRefusal;
  /** The client of a token that we signed. */
  readonly client?: string | undefined;
}

export interface ExpectedJwt {
  readonly algorithm: string;
  readonly type: string;
  readonly issuer: string;
  readonly audience: string;
}

export type FindKey<Key> = (kid: string) => Key | undefined | Promise<Key | undefined>;

interface VerifiedJwt<Key> {
  readonly kind: 'verified';
  readonly claims: JWTPayload;
  readonly kid: string;
  readonly key: Key;
}

/**
 * The claims of `token` if the key of its `kid` signed it for `expected`, and it has not expired at `now`
 * (milliseconds since the epoch; `anyAge` ignores expiry). No key comes from the header (`jwk`, `jku`, `x5u`), and no
 * extension (`crit`) is accepted.
 */
export async function verifyJwt<Key extends CryptoKey | KeyObject>(
  token: string,
  { algorithm, type, issuer, audience }: ExpectedJwt,
  findKey: FindKey<Key>,
  now: number | 'anyAge',
): Promise<VerifiedJwt<Key> | RefusedToken> {
  if (!isCanonical(token)) return refusedFor('malformed');
  const keyOf = async ({ kid, typ, crit }: JWTHeaderParameters): Promise<Key> => {
    // jose ignores the case of `typ`, and accepts the extension b64.
    if (typ !== type) throw new errors.JWTClaimValidationFailed('type', {}, 'typ');
    if (crit !== undefined) throw new errors.JWSInvalid();
    const key = typeof kid === 'string' && kid !== '' ? await findKey(kid) : undefined;
    if (key === undefined) throw new errors.JWKSNoMatchingKey();
    return key;
  };
  try {
    const { payload, protectedHeader, key } = await jwtVerify(token, keyOf, {
      algorithms: [algorithm],
      issuer,
      currentDate: new Date(now === 'anyAge' ? 0 : now),
    });
    // jose would accept a list that contains our audience.
    if (payload.aud !== audience) return refusedFor('audience', payload);
    return { kind: 'verified', claims: payload, kid: protectedHeader.kid ?? '', key: key as Key };
  } catch (error) {
    if (!(error instanceof errors.JOSEError)) throw error;
    // jose checks claims after the signature.
    const signed = error instanceof errors.JWTExpired || error instanceof errors.JWTClaimValidationFailed;
    return refusedFor(refusalOf(error), signed ? error.payload : {});
  }
}

/** `signed`: the claims of a token that we signed. */
export function refusedFor(reason: TokenRefusal, signed: JWTPayload = {}): RefusedToken {
  const { client_id: client } = signed;
  return { kind: 'refused', reason, ...(typeof client === 'string' && isClientId(client) && { client }) };
}

export interface VerifiedAccessToken<Key> extends Omit<VerifiedJwt<Key>, 'claims'> {
  readonly sub: string;
  readonly clientId: string;
  /** Seconds since the epoch. */
  readonly exp: number;
}

/**
 * The subject, or why the token is not valid at `now` (milliseconds since the epoch). A token opens
 * nothing without `openid` (R21.2).
 */
export async function verifyAccessToken<Key extends CryptoKey | KeyObject>(
  token: string,
  { issuer, algorithm }: Pick<ExpectedJwt, 'issuer' | 'algorithm'>,
  findKey: FindKey<Key>,
  now: number,
): Promise<VerifiedAccessToken<Key> | RefusedToken> {
  const expected = { algorithm, type: accessTokenType, issuer, audience: apiAudience };
  const verified = await verifyJwt(token, expected, findKey, now);
  if (verified.kind === 'refused') return verified;
  const { claims, ...signedBy } = verified;
  const { token_use, sub, client_id, scope, exp, iat } = claims;
  if (token_use !== accessTokenUse) return refusedFor('use', claims);
  if (exp === undefined || iat === undefined) return refusedFor('malformed', claims);
  if (iat * 1_000 > now + issuedLeeway * 1_000) return refusedFor('issued_later', claims);
  if (typeof client_id !== 'string' || !isClientId(client_id)) return refusedFor('malformed');
  if (typeof sub !== 'string') return refusedFor('subject', claims);
  if (typeof scope !== 'string' || !scope.split(' ').includes('openid')) return refusedFor('scope', claims);
  return { ...signedBy, sub, clientId: client_id, exp };
}

/** Decoders are lenient, and read several texts as one signature. */
function isCanonical(token: string): boolean {
  const parts = token.split('.');
  return (
    parts.length === 3 &&
    parts.every((part) => part !== '' && Buffer.from(part, 'base64url').toString('base64url') === part)
  );
}

const refusalByCode: Readonly<Record<string, TokenRefusal>> = {
  ERR_JOSE_ALG_NOT_ALLOWED: 'algorithm',
  ERR_JWKS_NO_MATCHING_KEY: 'key',
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: 'signature',
  ERR_JWT_EXPIRED: 'expired',
};
const refusalByClaim: Readonly<Record<string, TokenRefusal>> = { typ: 'type', iss: 'issuer' };

function refusalOf(error: { readonly code: string; readonly claim?: string }): TokenRefusal {
  return refusalByCode[error.code] ?? refusalByClaim[error.claim ?? ''] ?? 'malformed';
}
