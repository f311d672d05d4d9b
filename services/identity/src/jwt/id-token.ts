// ID tokens: exactly the claims of the specification (§2), signed with RS256 (§4).
import { verifyJwt } from '@course-exchange/rules/token-verification';
import type { ClientId, Sub } from '../ids.ts';
import type { KeyRing } from '../keys/ring.ts';
import { idTokenAlgorithm, tokenLifetime } from '../keys/signing-key.ts';
import type { User } from '../users/user.ts';
import { publishedKey, signJwt } from './jwt.ts';

export interface IdTokens {
  readonly keys: KeyRing;
  readonly issuer: string;
}

/** What the authorization request asked the ID token to carry. */
export interface IdTokenRequest {
  readonly clientId: ClientId;
  /** Empty: not sent, not carried. */
  readonly nonce: string;
  /** Seconds since the epoch; only under `max_age` (R5). */
  readonly authTime: number | undefined;
}

const type = 'JWT';
const tokenUse = 'id_token';

/** Signs an ID token of `tokenLifetime` seconds. `now` in seconds since the epoch. */
export function issueIdToken(
  { keys, issuer }: IdTokens,
  { sub, email, emailVerified, name }: Omit<User, 'disabled' | 'signedOutAt'>,
  { clientId, nonce, authTime }: IdTokenRequest,
  now: number,
): Promise<string> {
  return signJwt(keys.signingKey(idTokenAlgorithm), type, {
    iss: issuer,
    sub,
    aud: clientId,
    email,
    email_verified: emailVerified,
    name,
    token_use: tokenUse,
    iat: now,
    exp: now + tokenLifetime,
    ...(nonce === '' ? {} : { nonce }),
    ...(authTime === undefined ? {} : { auth_time: authTime }),
  });
}

/**
 * The user that an `id_token_hint` names: signature, issuer and audience are checked, expiry is not (R5).
 * Undefined when it is not an ID token that this issuer made for `clientId`, or its key is gone.
 */
export async function readIdTokenHint(
  { keys, issuer }: IdTokens,
  hint: string,
  clientId: ClientId,
): Promise<Sub | undefined> {
  const expected = { algorithm: idTokenAlgorithm, type, issuer, audience: clientId };
  const verified = await verifyJwt(hint, expected, publishedKey(keys, idTokenAlgorithm), 'anyAge');
  if ('reason' in verified) return undefined;
  const { claims } = verified;
  return claims.token_use === tokenUse && typeof claims.sub === 'string' ? (claims.sub as Sub) : undefined;
}
