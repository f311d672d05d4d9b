// Shared by the issuer and the verifier of access tokens (specification §5, R15.1).
import { seconds } from './brand.ts';

/** The token's `aud`: the resource API. No client may have this name (R15.3). */
export const apiAudience = 'design-api';
/** As the database checks at registration. */
export function isClientId(text: string): boolean {
  return /^[A-Za-z0-9_-]{1,64}$/.test(text);
}
/** Its header's `typ` (RFC 9068), in exactly these letters. */
export const accessTokenType = 'at+jwt';
/** Its claim `token_use`; an ID token has another. */
export const accessTokenUse = 'access_token';
/** Seconds that `iat` may be ahead; `exp` has no leeway (R16.4). */
export const issuedLeeway = 5;

/** Of access and ID tokens (specification §5). */
export const tokenLifetime = seconds(900);
/** For which the key set may be cached (R17.4). */
export const keySetLifetime = seconds(300);
