// Consumes and replaces the presented token (specification §3, R11.2).
import { isWithin, parseScope, type Scope } from '../clients/scope.ts';
import { Refusal } from '../refusals/reasons.ts';
import { parseToken } from '../secrets.ts';
import {
  type CurrentStatus,
  type LoadedGrant,
  latestConsumption,
  prepareTokens,
  requireOwn,
  type TokenDeps,
  type TokenRequest,
  type TokenResponse,
  whyRefused,
} from './grant.ts';
import type { RefreshFamily } from './grant-record.ts';
import { readRefreshFamily, rotateRefreshToken } from './grant-store.ts';

const refused = 'refresh_token.refused';

export async function loadFamily(
  { redis, now }: TokenDeps,
  refreshToken: string,
): Promise<LoadedGrant<RefreshFamily>> {
  const presented = parseToken(refreshToken);
  return { presented, record: presented && (await readRefreshFamily(redis, presented.familyId, now)) };
}

export async function refreshTokens(
  deps: TokenDeps,
  request: TokenRequest,
  loaded: LoadedGrant<RefreshFamily>,
  status: CurrentStatus,
): Promise<TokenResponse> {
  if (request.refreshToken === '') throw new Refusal('refresh_token missing');
  const family = requireOwn(refused, loaded, status.client.clientId);
  const scopes = narrowedScopes(family, request.scope);
  const { next, response } = await prepareTokens(deps, family, status, { refused, scopes });
  const current = await rotateRefreshToken(deps.redis, family, next, latestConsumption(deps));
  if (current !== 'rotated') throw whyRefused(refused, { ...loaded, record: current }, family.clientId);
  return response;
}

function narrowedScopes(family: RefreshFamily, requested: string): readonly Scope[] {
  const { scopes } = family;
  if (requested === '') return scopes;
  const narrowed = parseScope(requested);
  if (!narrowed?.length || !isWithin(narrowed, scopes))
    throw new Refusal('beyond the grant', { grant: family });
  return narrowed;
}
