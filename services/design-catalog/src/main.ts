// The design-catalog process: reads for the gateway, the feed for the platform.
import { join } from 'node:path';
import { CatalogService } from '@course-exchange/proto/catalog/v1';
import { FeedService } from '@course-exchange/proto/feed/v1';
import { DiscoveryService } from '@course-exchange/proto/identity/v1/discovery';
import { AuditService } from '@course-exchange/proto/operator/v1/audit';
import { operatorErrorStatuses, serviceErrorStatuses } from '@course-exchange/rules/error-codes';
import { operatorRoles } from '@course-exchange/rules/operator-roles';
import { timeBudget } from '@course-exchange/rules/time-budget';
import { tokenRefusals } from '@course-exchange/rules/token-verification';
import { createAuditHandlers } from '@course-exchange/runtime/audit/rpc';
import { connectRpc } from '@course-exchange/runtime/grpc/client';
import { actorOf } from '@course-exchange/runtime/grpc/incoming-call';
import { expectPeer, peerOf } from '@course-exchange/runtime/grpc/peer';
import { privateListener, privatePort } from '@course-exchange/runtime/grpc/private-port';
import { runProcess } from '@course-exchange/runtime/grpc/process';
import { expectRole } from '@course-exchange/runtime/grpc/roles';
import { bindService, serveRpc } from '@course-exchange/runtime/grpc/server';
import type { RpcTls } from '@course-exchange/runtime/grpc/tls';
import { openReads, type PipelinedReads } from '@course-exchange/runtime/postgres/pipelined-reads';
import { openDatabase } from '@course-exchange/runtime/postgres/pool';
import { newestMigration, schemaProblem } from '@course-exchange/runtime/postgres/schema-version';
import { postgresAccess } from '@course-exchange/runtime/postgres/settings';
import { type Logger, logText, pseudonym } from '@course-exchange/runtime/process/logger';
import { unknownClient } from '@course-exchange/runtime/process/metrics';
import { type CatalogConfig, readConfig } from './config.ts';
import { catalogHandlers } from './events/rpc.ts';
import { feedHandlers } from './feed/rpc.ts';
import { catalogMetrics } from './metrics.ts';
import { createTokenVerification } from './tokens/access-token.ts';
import { createKeySet, keepKeysFresh } from './tokens/key-set.ts';

/** The largest batch takes some seconds on a busy machine. */
const feedStatementTimeoutMs = 30_000;
/** Concurrent feed streams queue for these connections. */
const feedConnections = 4;
const maxFeedRequestBytes = 4 * 1024 * 1024;

await runProcess('design-catalog', readConfig, async (config, logger, tls) => {
  const database = openLists(config, logger);
  const { identity, keySet, authenticate } = openTokenVerification(config, tls, logger);
  const schemaVersion = newestMigration(join(import.meta.dirname, '../migrations'));
  const feed = await openFeed(config, schemaVersion, logger);
  const refreshing = new AbortController();
  void keepKeysFresh(keySet, refreshing.signal);
  const gateway = tls && peerOf('gateway', 'GATEWAY_TLS_NAMES', config.GATEWAY_TLS_NAMES, logger);
  const handlers = catalogHandlers({ authenticate, database, logger });
  const server = await serveRpc({
    address: `${config.RPC_HOST}:${config.RPC_PORT}`,
    services: [bindService(CatalogService, handlers)],
    errorStatuses: serviceErrorStatuses,
    authenticate: gateway && ((call) => expectPeer(call, gateway)),
    logger,
    maxConnectionAgeMs: config.MAX_CONNECTION_AGE_MS,
    credentials: tls?.server,
  });

  return {
    health: {
      checks: {
        postgres: () => schemaProblem(database, 'catalog', schemaVersion),
        keySet: () => Promise.resolve(keySet.problem()),
      },
      startupGate: ['postgres', 'keySet'],
      warnings: feed === undefined ? {} : { feed: feed.problem },
    },
    steps: {
      gRPC: () => Promise.all([server.stop(10_000), feed?.stop(10_000)]),
      'key set': () => refreshing.abort(),
      identity: identity.close,
      Postgres: () => Promise.all([database.close(), feed?.close()]),
    },
    ports: { port: server.port, feedPort: feed?.port },
  };
});

function openLists(config: CatalogConfig, logger: Logger): PipelinedReads {
  return openReads({
    url: postgresAccess('POSTGRES'),
    applicationName: 'design-catalog',
    poolSize: config.POSTGRES_POOL_SIZE,
    statementTimeoutMs: timeBudget.catalogStatement,
    readOnly: true,
    schema: 'catalog',
    logger,
  });
}

function openTokenVerification(config: CatalogConfig, tls: RpcTls | undefined, logger: Logger) {
  const identity = connectRpc([DiscoveryService], {
    target: config.IDENTITY_TARGET,
    timeoutMs: timeBudget.keySet,
    credentials: tls?.channel,
  });
  const discovery = identity.client(DiscoveryService);
  const keySet = createKeySet({
    fetchJwks: async () => (await discovery.getKeySet({})).jwks,
    algorithm: config.ACCESS_TOKEN_ALGORITHM,
    now: Date.now,
  });
  // Prometheus sees no increase in the first value of a series.
  for (const reason of tokenRefusals)
    catalogMetrics.tokensRefused.add({ reason, client_id: unknownClient }, 0);
  const authenticate = createTokenVerification({
    issuer: config.ISSUER,
    algorithm: config.ACCESS_TOKEN_ALGORITHM,
    keySet,
    now: Date.now,
    keyedUser: (owner) => pseudonym(config.USER_HASH_KEY, owner),
    refused: ({ reason, client }) => {
      catalogMetrics.tokensRefused.add({ reason, client_id: client ?? unknownClient });
      const named = client === undefined ? {} : { client: logText(client) };
      logger.info('token refused', { reason: logText(reason), ...named });
    },
  });
  return { identity, keySet, authenticate };
}

/** Undefined when it is off. Throws ConfigurationError for a port that is open to everyone. */
async function openFeed(config: CatalogConfig, schemaVersion: number, logger: Logger) {
  if (config.FEED_POSTGRES_URL === undefined) return undefined;
  const listener = privateListener(privatePort('FEED', config), logger);
  const database = openDatabase({
    url: postgresAccess('FEED_POSTGRES'),
    applicationName: 'design-catalog feed',
    poolSize: feedConnections,
    statementTimeoutMs: feedStatementTimeoutMs,
    schema: 'catalog',
    logger,
  });
  const checkRole = expectRole(operatorRoles, logger);
  const server = await serveRpc({
    ...listener,
    services: [
      bindService(FeedService, feedHandlers({ database, logger, now: Date.now })),
      bindService(AuditService, createAuditHandlers(database)),
    ],
    errorStatuses: operatorErrorStatuses,
    authenticate: (call, method) => {
      if (method.parent === AuditService) actorOf(call);
      checkRole(call, method);
    },
    sendDetails: true,
    logger,
    maxRequestBytes: maxFeedRequestBytes,
  });
  return {
    port: config.FEED_SOCKET === undefined ? server.port : undefined,
    /** One sentence when its database cannot serve it. */
    problem: () => schemaProblem(database, 'catalog', schemaVersion),
    stop: server.stop,
    close: database.close,
  };
}
