// TokenService: translation only.
import type { TokenService } from '@course-exchange/proto/identity/v1/token';
import type { Handlers } from '@course-exchange/runtime/grpc/server';
import { exchangeToken } from './endpoint.ts';
import type { TokenDeps } from './grant.ts';
import { getUserInfo } from './userinfo.ts';

export function createTokenHandlers(deps: TokenDeps): Handlers<typeof TokenService> {
  return {
    exchangeToken: (request) => exchangeToken(deps, request),
    getUserInfo: (_request, { bearer }) => getUserInfo(deps, bearer),
  };
}
