// What an access token must say to open the resource interface (specification §5, R15, R16).
import type { Owner } from './ids.ts';
import type { JsonObject } from './token-format.ts';

/** The algorithm is configuration, never the token's choice. */
export type TokenAlgorithm = 'ES256' | 'RS256';
export const tokenAlgorithms: readonly TokenAlgorithm[] = ['ES256', 'RS256'];

/** Why a token was refused: for logs. Callers learn `invalid_token` and no more. */
export type Refusal =
  | 'no token'
  | 'malformed'
  | 'algorithm'
  | 'type'
  | 'key'
  | 'signature'
  | 'issuer'
  | 'audience'
  | 'use'
  | 'expired'
  | 'issued later'
  | 'subject'
  | 'scope';

const audience = 'design-api';
/** Seconds by which identity's clock may be ahead of ours (R16). */
const issuedAheadSeconds = 5;
const longestOwner = 255;

/**
 * The key that `header` names; its `jku`, `jwk` and `x5u` are not looked at. Unknown extensions that must be
 * understood are refused (RFC 7515 §4.1.11).
 */
export function namedKey(header: JsonObject, algorithm: TokenAlgorithm): { kid: string } | Refusal {
  const { alg, typ, kid, crit } = header;
  if (alg !== algorithm) return 'algorithm';
  if (typ !== 'at+jwt') return 'type';
  if (crit !== undefined) return 'malformed';
  return typeof kid === 'string' && kid !== '' ? { kid } : 'key';
}

export interface Admission {
  readonly owner: Owner;
  /** Milliseconds since the epoch; from then on the token is expired. */
  readonly expiresAt: number;
}

/** Admits the verified `claims` at `now` (milliseconds since the epoch), or says why not. */
export function admit(claims: JsonObject, issuer: string, now: number): Admission | Refusal {
  const { iss, aud, token_use: use, exp, iat, sub, scope } = claims;
  if (iss !== issuer) return 'issuer';
  if (aud !== audience) return 'audience';
  if (use !== 'access_token') return 'use';
  if (!isNumericDate(exp) || !isNumericDate(iat)) return 'malformed';
  if (now >= exp * 1_000) return 'expired';
  if (iat * 1_000 > now + issuedAheadSeconds * 1_000) return 'issued later';
  if (!isOwner(sub)) return 'subject';
  if (typeof scope !== 'string' || !scope.split(' ').includes('openid')) return 'scope';
  return { owner: sub, expiresAt: exp * 1_000 };
}

function isNumericDate(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

function isOwner(value: unknown): value is Owner {
  return typeof value === 'string' && value !== '' && value.length <= longestOwner && !value.includes('\0');
}
