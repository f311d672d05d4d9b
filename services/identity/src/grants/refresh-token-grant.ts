// grant_type=refresh_token: the presented token is consumed and replaced (specification §3, R11, R12).
import { Failure } from '@course-exchange/runtime/failure';
import type { ClientId } from '../domain/ids.ts';
import { formatScope, isWithin, parseScope, type Scope } from '../domain/scope.ts';
import { hashSecret, newSecret, sameHash } from '../domain/secrets.ts';
import { tokenLifetime } from '../domain/signing-algorithm.ts';
import type { TokenRequest } from '../domain/token-request.ts';
import { formatToken, type PresentedToken, parseToken } from '../domain/token-string.ts';
import { issueAccessToken } from '../signing/access-token.ts';
import type { ClientStanding, GrantStanding } from '../store/postgres/grant-standing.ts';
import {
  deleteGrant,
  type RefreshFamily,
  readRefreshFamily,
  rotateRefreshToken,
} from '../store/redis/refresh-families.ts';
import { approvedScopes, isAlive } from './current-scopes.ts';
import type { PresentedGrant, TokenResponse } from './presented-grant.ts';
import type { TokenEndpoint } from './token-endpoint.ts';

/** Reads the family that the request names; nothing is judged or changed before `redeem`. */
export async function presentRefreshToken(
  endpoint: TokenEndpoint,
  request: TokenRequest,
): Promise<PresentedGrant> {
  const presented = parseToken(request.refreshToken);
  const family = presented && (await readRefreshFamily(endpoint.redis, presented.family));
  return {
    consentId: family?.consentId ?? null,
    redeem: (client, grant) => {
      if (request.refreshToken === '') throw new Failure('invalid_request', 'refresh_token missing');
      const owned = ownedFamily(presented, family, client.clientId);
      return rotate(endpoint, owned, narrowedScopes(owned, request.scope), client, grant);
    },
  };
}

/** The family, if the token is its current one and this client's; a mismatch changes nothing (R11). */
function ownedFamily(
  presented: PresentedToken | undefined,
  family: RefreshFamily | undefined,
  clientId: ClientId,
): RefreshFamily {
  const owned = presented && family?.clientId === clientId && sameHash(presented.hash, family.hash);
  if (!owned) throw new Failure('invalid_grant', 'no such refresh token for this client');
  return family;
}

/** A subset of the grant narrows this access token alone (R12); empty is absent. */
function narrowedScopes({ scopes }: RefreshFamily, requested: string): readonly Scope[] {
  if (requested === '') return scopes;
  const narrowed = parseScope(requested);
  if (!narrowed?.length || !isWithin(narrowed, scopes))
    throw new Failure('invalid_scope', 'beyond the grant');
  return narrowed;
}

/** Signs first, then consumes: the answer is ready in the moment in which the old token dies. */
async function rotate(
  endpoint: TokenEndpoint,
  owned: RefreshFamily,
  requested: readonly Scope[],
  client: ClientStanding,
  standing: GrantStanding | undefined,
): Promise<TokenResponse> {
  const { family, hash, sub, clientId } = owned;
  if (!isAlive(owned, standing)) {
    await deleteGrant(endpoint.redis, { family, hash });
    throw new Failure('invalid_grant', 'the grant was withdrawn');
  }
  const scopes = approvedScopes(requested, client);
  const now = endpoint.now();
  const id = endpoint.randomBytes(16).toString('base64url');
  const grant = { sub, clientId, scopes };
  const accessToken = await issueAccessToken(endpoint.tokens, grant, Math.floor(now / 1000), id);
  const secret = newSecret(endpoint.randomBytes);
  const next = { hash: hashSecret(secret), issuedAt: now };
  if (!(await rotateRefreshToken(endpoint.redis, { family, hash }, next)))
    throw new Failure('invalid_grant', 'the token was consumed');
  return {
    accessToken,
    refreshToken: formatToken(family, secret),
    expiresIn: tokenLifetime,
    scope: formatScope(scopes),
  };
}
