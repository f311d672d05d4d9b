// ID tokens: exactly the claims of the specification (§2), signed with RS256 (§4).
import type { ClientId, Sub } from '../domain/ids.ts';
import { idTokenAlgorithm, tokenLifetime } from '../domain/signing-algorithm.ts';
import { signJwt, verifyJwt } from './jwt.ts';
import type { KeyRing } from './key-ring.ts';

export interface IdTokens {
  readonly keys: KeyRing;
  readonly issuer: string;
}

export interface IdTokenSubject {
  readonly sub: Sub;
  readonly email: string;
  readonly emailVerified: boolean;
  readonly name: string;
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
  { sub, email, emailVerified, name }: IdTokenSubject,
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
export function readIdTokenHint(
  { keys, issuer }: IdTokens,
  hint: string,
  clientId: ClientId,
): Sub | undefined {
  const claims = verifyJwt(keys, hint, { algorithm: idTokenAlgorithm, type });
  const ours = claims?.iss === issuer && claims.aud === clientId && claims.token_use === tokenUse;
  return ours && typeof claims.sub === 'string' ? (claims.sub as Sub) : undefined;
}
