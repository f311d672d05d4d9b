// TokenService: translation only.
import type { TokenService } from '@course-exchange/proto/identity/v1/token';
import type { Handlers } from '@course-exchange/runtime/grpc/server';
import { exchangeToken } from './endpoint.ts';
import type { TokenDeps } from './grant.ts';
import { getUserInfo } from './userinfo.ts';

// Messages have the fields of the use cases' own types, by the same names; protobuf's own are ignored.
export function createTokenHandlers(deps: TokenDeps): Handlers<typeof TokenService> {
  return {
    exchangeToken: (request) => exchangeToken(deps, request),
    getUserInfo: (_request, { authorization }) => getUserInfo(deps, authorization),
  };
}
