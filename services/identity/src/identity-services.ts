// Joins the services that the gateway and design-catalog call with what they need; a part of main.
import { AuthorizationService } from '@course-exchange/proto/identity/v1/authorization';
import { DiscoveryService } from '@course-exchange/proto/identity/v1/discovery';
import { TokenService } from '@course-exchange/proto/identity/v1/token';
import { type Logger, logText } from '@course-exchange/runtime/logger';
import { pseudonym } from '@course-exchange/runtime/pseudonym';
import { type ServedService, served } from '@course-exchange/runtime/rpc-server';
import { openAuthorization } from './authorization-endpoint.ts';
import type { IdentityConfig } from './config.ts';
import type { RandomBytes } from './domain/ids.ts';
import type { TokenEndpoint } from './grants/token-endpoint.ts';
import { createAuthorizationHandlers } from './rpc/authorization-handlers.ts';
import { exchangeTokenHandler } from './rpc/exchange-token.ts';
import { getDiscoveryHandler } from './rpc/get-discovery.ts';
import { getKeySetHandler } from './rpc/get-key-set.ts';
import { getUserInfoHandler } from './rpc/get-user-info.ts';
import { createSecretUse } from './secret-use.ts';
import type { KeyRing } from './signing/key-ring.ts';
import type { Stores } from './stores.ts';

export interface IdentityMeans {
  readonly stores: Stores;
  readonly keys: KeyRing;
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly randomBytes: RandomBytes;
}

export async function identityServices(
  config: IdentityConfig,
  means: IdentityMeans,
): Promise<readonly ServedService[]> {
  const endpoint = tokenEndpoint(config, means);
  const atOnce = { ...endpoint, database: means.stores.reads };
  const { LOGIN_HASHING_CONCURRENCY, USER_HASH_KEY } = config;
  const authorization = await openAuthorization(endpoint, LOGIN_HASHING_CONCURRENCY, USER_HASH_KEY);
  return [
    served(AuthorizationService, createAuthorizationHandlers(authorization)),
    served(TokenService, {
      exchangeToken: exchangeTokenHandler(atOnce),
      getUserInfo: getUserInfoHandler(atOnce),
    }),
    served(DiscoveryService, {
      getDiscovery: getDiscoveryHandler(config.ISSUER),
      getKeySet: getKeySetHandler(means.keys),
    }),
  ];
}

function tokenEndpoint(config: IdentityConfig, means: IdentityMeans): TokenEndpoint {
  const { stores, keys, logger, now, randomBytes } = means;
  const { database, redis } = stores;
  return {
    ...{ database, redis, now, randomBytes },
    tokens: { keys, issuer: config.ISSUER, algorithm: config.ACCESS_TOKEN_ALGORITHM },
    onIssued: ({ grantType, clientId, sub }) =>
      logger.info('tokens issued', {
        grant: logText(grantType),
        client: logText(clientId),
        user: pseudonym(config.USER_HASH_KEY, sub),
      }),
    onSecretUsed: createSecretUse(database, now, logger),
  };
}
