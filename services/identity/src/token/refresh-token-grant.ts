// Consumes and replaces the presented token (specification §3, R11.2).
import { isWithin, parseScope, type Scope } from '../clients/scope.ts';
import { Refusal } from '../refusals/reasons.ts';
import { parseToken } from '../secrets.ts';
import { type Grant, issueTokens, requireOwn, whyRefused } from './grant.ts';
import type { RefreshFamily } from './grant-record.ts';
import { readRefreshFamily, rotateRefreshToken } from './grant-store.ts';

const refused = 'refresh_token.refused';

export const refreshTokenGrant: Grant<RefreshFamily> = {
  load: async ({ redis, now }, request) => {
    const presented = parseToken(request.refreshToken);
    return { presented, record: presented && (await readRefreshFamily(redis, presented.familyId, now)) };
  },
  issue: async (deps, request, loaded, status) => {
    if (request.refreshToken === '') throw new Refusal('refresh_token missing');
    const family = requireOwn(refused, loaded, status.client.clientId);
    return issueTokens(deps, family, status, {
      refused,
      scopes: narrowedScopes(family, request.scope),
      consume: async (next, latest) => {
        const current = await rotateRefreshToken(deps.redis, family, next, latest);
        if (current !== 'rotated') throw whyRefused(refused, { ...loaded, record: current }, family.clientId);
      },
    });
  },
};

function narrowedScopes(family: RefreshFamily, requested: string): readonly Scope[] {
  const { scopes } = family;
  if (requested === '') return scopes;
  const narrowed = parseScope(requested);
  if (!narrowed?.length || !isWithin(narrowed, scopes))
    throw new Refusal('beyond the grant', { grant: family });
  return narrowed;
}
