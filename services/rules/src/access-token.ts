// What the service that issues access tokens and the one that accepts them agree on (specification §5, R15–R17).

/** The token's `aud`: the resource API. No client may bear its name. */
export const apiAudience = 'design-api';
/** Whether `text` can name a client at all (R15); the database checks the same at registration. */
export function isClientId(text: string): boolean {
  return /^[A-Za-z0-9_-]{1,64}$/.test(text);
}
/** Characters of the longest `Authorization` header that is read. */
const longestHeader = 8_192;
/** The token of an `Authorization` header (RFC 6750 §2.1); undefined where it has none. */
export function bearerToken(authorization = ''): string | undefined {
  if (authorization.length > longestHeader) return undefined;
  return /^Bearer +([A-Za-z0-9\-._~+/]+=*) *$/i.exec(authorization)?.[1];
}
/** Its header's `typ` (RFC 9068), in these letters alone. */
export const accessTokenType = 'at+jwt';
/** Its claim `token_use`; an ID token has another. */
export const accessTokenUse = 'access_token';
/** Seconds by which `iat` may lie ahead of a reader's clock; `exp` has no leeway (R16). */
export const issuedLeeway = 5;

/** Seconds that access and ID tokens are valid (specification §5). */
export const tokenLifetime = 900;
/** Seconds for which anybody may keep the key set (R17). */
export const keySetLifetime = 300;
