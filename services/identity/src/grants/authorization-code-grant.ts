// grant_type=authorization_code: a code becomes tokens, once (specification §3, R9, R10).
import { Failure } from '@course-exchange/runtime/failure';
import type { ClientId } from '../domain/ids.ts';
import { checkVerifierForm, verifyChallenge } from '../domain/pkce.ts';
import { formatScope } from '../domain/scope.ts';
import { hashSecret, newSecret, sameHash } from '../domain/secrets.ts';
import { tokenLifetime } from '../domain/signing-algorithm.ts';
import type { TokenRequest } from '../domain/token-request.ts';
import { formatToken, type PresentedToken, parseToken } from '../domain/token-string.ts';
import { issueAccessToken } from '../signing/access-token.ts';
import { issueIdToken } from '../signing/id-token.ts';
import type { ClientStanding, GrantStanding } from '../store/postgres/grant-standing.ts';
import { type AuthorizationCode, readAuthorizationCode } from '../store/redis/authorization-codes.ts';
import { exchangeCode, revokeOnReplay } from '../store/redis/code-exchange.ts';
import { deleteGrant } from '../store/redis/refresh-families.ts';
import { approvedScopes, isAlive } from './current-scopes.ts';
import type { PresentedGrant, TokenResponse } from './presented-grant.ts';
import type { TokenEndpoint } from './token-endpoint.ts';

/** Reads the code that the request names; nothing is judged or changed before `redeem`. */
export async function presentCode(endpoint: TokenEndpoint, request: TokenRequest): Promise<PresentedGrant> {
  const presented = parseToken(request.code);
  const code = presented && (await readAuthorizationCode(endpoint.redis, presented.family));
  return {
    consentId: code?.consentId ?? null,
    redeem: async (client, grant) => {
      checkParameters(request);
      const owned = await ownedCode(endpoint, presented, code, client.clientId);
      checkBinding(owned, request);
      return exchange(endpoint, owned, client, grant);
    },
  };
}

function checkParameters({ code, redirectUri, codeVerifier }: TokenRequest): void {
  if (code === '' || redirectUri === '') throw new Failure('invalid_request', 'code or redirect_uri missing');
  checkVerifierForm(codeVerifier);
}

/** The code, if it is there and this client's. A consumed one, presented again by its client, is a replay (R10). */
async function ownedCode(
  { redis }: TokenEndpoint,
  presented: PresentedToken | undefined,
  code: AuthorizationCode | undefined,
  clientId: ClientId,
): Promise<AuthorizationCode> {
  const found = presented && code && sameHash(presented.hash, code.hash);
  if (presented && !found) await revokeOnReplay(redis, presented, clientId);
  if (!found || code.clientId !== clientId)
    throw new Failure('invalid_grant', 'no such code for this client');
  return code;
}

function checkBinding(code: AuthorizationCode, { redirectUri, codeVerifier }: TokenRequest): void {
  if (code.redirectUri !== redirectUri) throw new Failure('invalid_grant', 'redirect_uri differs');
  verifyChallenge(code.pkce, codeVerifier);
}

/** Signs first, then consumes: whoever loses the race throws its signatures away, and no crash loses a code
 * whose tokens were never sent by us (R9). */
async function exchange(
  endpoint: TokenEndpoint,
  code: AuthorizationCode,
  client: ClientStanding,
  standing: GrantStanding | undefined,
): Promise<TokenResponse> {
  const { family, hash, sub, clientId, consentId, loggedInAt } = code;
  if (!isAlive({ sub, clientId, loggedInAt }, standing)) {
    await deleteGrant(endpoint.redis, { family, hash });
    throw new Failure('invalid_grant', 'the grant was withdrawn');
  }
  const scopes = approvedScopes(code.scopes, client);
  const now = endpoint.now();
  const seconds = Math.floor(now / 1000);
  const id = endpoint.randomBytes(16).toString('base64url');
  const [accessToken, idToken] = await Promise.all([
    issueAccessToken(endpoint.tokens, { sub, clientId, scopes }, seconds, id),
    scopes.includes('openid') ? issueIdToken(endpoint.tokens, standing, code, seconds) : undefined,
  ]);
  const secret = newSecret(endpoint.randomBytes);
  const begun = {
    family,
    hash: hashSecret(secret),
    codeHash: hash,
    clientId,
    sub,
    consentId,
    scopes: code.scopes,
    loggedInAt,
    issuedAt: now,
  };
  if (!(await exchangeCode(endpoint.redis, begun)))
    throw new Failure('invalid_grant', 'the code was consumed');
  return {
    accessToken,
    refreshToken: formatToken(family, secret),
    expiresIn: tokenLifetime,
    scope: formatScope(scopes),
    ...(idToken === undefined ? {} : { idToken }),
  };
}
