// Access tokens: JWTs of type at+jwt for the audience design-api (R15), and their check at user-info (R16).
import type { ClientId, Sub } from '../domain/ids.ts';
import { formatScope, parseScope, type Scope } from '../domain/scope.ts';
import { type SigningAlgorithm, tokenLifetime } from '../domain/signing-algorithm.ts';
import { type Claims, signJwt, verifyJwt } from './jwt.ts';
import type { KeyRing } from './key-ring.ts';

const audience = 'design-api';
const type = 'at+jwt';
const tokenUse = 'access_token';
/** Seconds by which `iat` may lie ahead of this clock; `exp` has no leeway (R16). */
const issuedLeeway = 5;

export interface AccessTokens {
  readonly keys: KeyRing;
  readonly issuer: string;
  readonly algorithm: SigningAlgorithm;
}

export interface AccessGrant {
  readonly sub: Sub;
  readonly clientId: ClientId;
  readonly scopes: readonly Scope[];
}

/** Signs an access token of `tokenLifetime` seconds. `now` in seconds since the epoch, `id` unique. */
export function issueAccessToken(
  { keys, issuer, algorithm }: AccessTokens,
  { sub, clientId, scopes }: AccessGrant,
  now: number,
  id: string,
): Promise<string> {
  return signJwt(keys.signingKey(algorithm), type, {
    iss: issuer,
    aud: audience,
    sub,
    client_id: clientId,
    scope: formatScope(scopes),
    token_use: tokenUse,
    iat: now,
    exp: now + tokenLifetime,
    jti: id,
  });
}

/** What an access token grants; undefined when it is not a valid one of this issuer at `now` (seconds). */
export function verifyAccessToken(
  { keys, issuer, algorithm }: AccessTokens,
  token: string,
  now: number,
): AccessGrant | undefined {
  const claims = verifyJwt(keys, token, { algorithm, type });
  if (!claims || claims.iss !== issuer || claims.aud !== audience || claims.token_use !== tokenUse)
    return undefined;
  const { sub, client_id, scope } = claims;
  if (!isCurrent(claims, now) || typeof sub !== 'string' || typeof scope !== 'string') return undefined;
  return { sub: sub as Sub, clientId: client_id as ClientId, scopes: parseScope(scope) ?? [] };
}

function isCurrent({ exp, iat }: Claims, now: number): boolean {
  return typeof exp === 'number' && typeof iat === 'number' && now < exp && iat <= now + issuedLeeway;
}
