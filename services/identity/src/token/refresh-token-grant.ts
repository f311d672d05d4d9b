// The presented token is consumed and replaced (specification §3, R11, R12).
import { Failure } from '@course-exchange/runtime/process/errors';
import { isWithin, parseScope, type Scope } from '../clients/scope.ts';
import { parseToken } from '../secrets.ts';
import { type Grant, issueTokens, refusedGrant, requireOwn } from './grant.ts';
import type { RefreshFamily } from './grant-record.ts';
import { readRefreshFamily, rotateRefreshToken } from './grant-store.ts';

const refused = 'refresh_token.refused';

export const refreshTokenGrant: Grant<RefreshFamily> = {
  load: async ({ redis, now }, request) => {
    const presented = parseToken(request.refreshToken);
    return { presented, record: presented && (await readRefreshFamily(redis, presented.familyId, now)) };
  },
  issue: async (deps, request, loaded, status) => {
    if (request.refreshToken === '') throw new Failure('invalid_request', 'refresh_token missing');
    const family = requireOwn(refused, loaded, status.client.clientId);
    return issueTokens(deps, family, status, {
      refused,
      scopes: narrowedScopes(family, request.scope),
      consume: async (next, latest) => {
        if (await rotateRefreshToken(deps.redis, family, next, latest)) return;
        throw refusedGrant(refused, 'reused', family.clientId, family);
      },
    });
  },
};

function narrowedScopes({ scopes }: RefreshFamily, requested: string): readonly Scope[] {
  if (requested === '') return scopes;
  const narrowed = parseScope(requested);
  if (!narrowed?.length || !isWithin(narrowed, scopes))
    throw new Failure('invalid_scope', 'beyond the grant');
  return narrowed;
}
