// TokenService.ExchangeToken: translation only.
import type { TokenService } from '@course-exchange/proto/identity/v1/token';
import type { Handlers } from '@course-exchange/runtime/rpc-server';
import { exchangeToken } from '../grants/exchange-token.ts';
import type { TokenEndpoint } from '../grants/token-endpoint.ts';

// The message has the request's fields by the same names; protobuf's own are ignored.
export function exchangeTokenHandler(
  endpoint: TokenEndpoint,
): Handlers<typeof TokenService>['exchangeToken'] {
  return (request) => exchangeToken(endpoint, request);
}
