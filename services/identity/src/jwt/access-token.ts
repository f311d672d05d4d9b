// Access tokens: JWTs of type at+jwt for the audience design-api (R15), and their check at user-info (R16).
import { accessTokenType, accessTokenUse, apiAudience } from '@course-exchange/rules/access-token';
import { type RefusedToken, verifyAccessToken } from '@course-exchange/rules/token-verification';
import { logText } from '@course-exchange/runtime/process/logger';
import { annotate } from '@course-exchange/runtime/process/spans';
import { formatScope, type Scope } from '../clients/scope.ts';
import type { ClientId, Sub } from '../ids.ts';
import { type SigningAlgorithm, tokenLifetime } from '../keys/signing-key.ts';
import type { IdTokens } from './id-token.ts';
import { publishedKey, signJwt } from './jwt.ts';

export interface AccessTokens extends IdTokens {
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
  const key = keys.signingKey(algorithm);
  annotate(() => ({ 'course_exchange.access_token.kid': logText(key.kid) }));
  return signJwt(key, accessTokenType, {
    iss: issuer,
    aud: apiAudience,
    sub,
    client_id: clientId,
    scope: formatScope(scopes),
    token_use: accessTokenUse,
    iat: now,
    exp: now + tokenLifetime,
    jti: id,
  });
}

/** Whom an access token names, or why it is no valid one of this issuer at `now` (milliseconds since the epoch). */
export async function readAccessToken(
  { keys, issuer, algorithm }: AccessTokens,
  token: string,
  now: number,
): Promise<Omit<AccessGrant, 'scopes'> | RefusedToken> {
  const findKey = publishedKey(keys, algorithm);
  const verified = await verifyAccessToken(token, { issuer, algorithm }, findKey, now);
  if ('reason' in verified) return verified;
  return { sub: verified.sub as Sub, clientId: verified.clientId as ClientId };
}
