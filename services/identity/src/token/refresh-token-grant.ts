// Consumes and replaces the presented token (specification §3, R11.2).
import { isWithin, parseScope, type Scope } from '../clients/scope.ts';
import type { ClientId } from '../ids.ts';
import { Refusal, tokenRefusal } from '../refusals/reasons.ts';
import { parseToken, sameHash } from '../secrets.ts';
import type { ReasonOf } from '../security-events.ts';
import {
  type CurrentStatus,
  type LoadedGrant,
  latestConsumption,
  prepareTokens,
  type RefuseGrant,
  requireOwn,
  type TokenDeps,
  type TokenRequest,
  type TokenResponse,
} from './grant.ts';
import { type Read, type RefreshFamily, type RevokedFamily, replacementOf } from './grant-record.ts';
import { readRefreshFamily, rotateRefreshToken } from './grant-store.ts';

export type LoadedFamily = LoadedGrant<Read<RefreshFamily> | RevokedFamily>;

const refuse: RefuseGrant<ReasonOf<'refresh_token.refused'>> = (reason, client, grant, earlier) => {
  const event = { event: 'refresh_token.refused', client, sub: grant?.sub, reason } as const;
  return new Refusal('token', 'invalid_grant', `refresh_token_${reason}`, { event, grant, earlier });
};

export async function loadFamily({ redis, now }: TokenDeps, refreshToken: string): Promise<LoadedFamily> {
  const presented = parseToken(refreshToken);
  return { presented, record: presented && (await readRefreshFamily(redis, presented.familyId, now)) };
}

export async function refreshTokens(
  deps: TokenDeps,
  request: TokenRequest,
  loaded: LoadedFamily,
  status: CurrentStatus,
): Promise<TokenResponse> {
  if (request.refreshToken === '') throw tokenRefusal('refresh_token_missing');
  const { clientId } = status.client;
  const family = requireCurrent(loaded, clientId);
  const scopes = narrowedScopes(family, request.scope);
  const { next, response } = await prepareTokens(deps, family, status, { refuse, scopes });
  const current = await rotateRefreshToken(deps.redis, family, next, latestConsumption(deps));
  if (current === 'rotated') return response;
  requireCurrent({ ...loaded, record: current }, clientId);
  throw refuse('expired', clientId, family);
}

/** The family, if its current token was presented and it is this client's. Changes nothing (R11.1). */
function requireCurrent(loaded: LoadedFamily, clientId: ClientId): Read<RefreshFamily> {
  const { presented, record: family } = requireOwn(refuse, loaded, clientId);
  if (family.kind === 'revoked') throw refuse('revoked', clientId, family, family.revocation);
  if (!sameHash(presented.hash, family.hash))
    throw refuse('reused', clientId, family, replacementOf(family, presented.hash));
  if (family.expired) throw refuse('expired', clientId, family);
  return family;
}

function narrowedScopes(family: RefreshFamily, requested: string): readonly Scope[] {
  const { scopes } = family;
  if (requested === '') return scopes;
  const narrowed = parseScope(requested);
  if (!narrowed?.length || !isWithin(narrowed, scopes))
    throw tokenRefusal('beyond_the_grant', { grant: family });
  return narrowed;
}
