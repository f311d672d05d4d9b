// The design catalog: reads its configuration, opens its store, learns identity's keys, serves gRPC until it
// is told to stop.
import { join } from 'node:path';
import { CatalogService } from '@course-exchange/proto/catalog/v1';
import { errorStatuses } from '@course-exchange/proto/error-codes';
import { DiscoveryService } from '@course-exchange/proto/identity/v1/discovery';
import { serveHealth } from '@course-exchange/runtime/health';
import { createLifecycle, waitForEndpointsToSpread } from '@course-exchange/runtime/lifecycle';
import { createLogger, type Logger, logText } from '@course-exchange/runtime/logger';
import { newestMigration } from '@course-exchange/runtime/migrations';
import { type Database, openDatabase } from '@course-exchange/runtime/postgres';
import { postgresAccess } from '@course-exchange/runtime/postgres-settings';
import { startProcess } from '@course-exchange/runtime/process-start';
import { pseudonym } from '@course-exchange/runtime/pseudonym';
import { connectRpc, type RpcConnection } from '@course-exchange/runtime/rpc-client';
import { type RpcServer, served, serveRpc } from '@course-exchange/runtime/rpc-server';
import { openRpcTls, type RpcTls } from '@course-exchange/runtime/rpc-tls';
import { startTelemetry } from '@course-exchange/runtime/telemetry';
import { keepKeysFresh } from './authentication/key-refresh.ts';
import { createKeySet, type KeySet } from './authentication/key-set.ts';
import { createTokenVerification } from './authentication/token-verification.ts';
import { type CatalogConfig, readConfig } from './config.ts';
import type { Owner } from './domain/ids.ts';
import { openFeed } from './feed-server.ts';
import { listDesignsHandler } from './rpc/list-designs.ts';
import { listEventsHandler } from './rpc/list-events.ts';
import { findEventWithDesigns } from './store/designs.ts';
import { listEvents } from './store/event-summaries.ts';
import { schemaProblem } from './store/schema-version.ts';

/** Below the gateway's 1.8 s (R14), so that the reason is known before the caller gives up. */
const statementTimeoutMs = 1_200;
/** A call that needs a new key set waits so long at most, in milliseconds. */
const keySetTimeoutMs = 600;

await startProcess(() => main(readConfig()));

async function main(config: CatalogConfig): Promise<void> {
  const logger = createLogger('design-catalog', config.LOG_LEVEL);
  const telemetry = startTelemetry({
    service: 'design-catalog',
    version: '0.1.0',
    otlpEndpoint: config.OTEL_EXPORTER_OTLP_ENDPOINT,
    sampleRatio: config.OTEL_TRACES_SAMPLER_ARG,
  });
  const tls = openRpcTls(config.RPC_TLS_DIRECTORY, logger);
  const database = openReads(config, logger);
  const { identity, keySet } = learnKeys(config, tls);
  const schemaVersion = newestMigration(join(import.meta.dirname, '../migrations'));
  const feed = await openFeed(config, schemaVersion, { logger, now: Date.now });
  const health = await serveHealth({
    host: config.HEALTH_HOST,
    port: config.HEALTH_PORT,
    checks: {
      postgres: () => schemaProblem(database, schemaVersion),
      keySet: () => Promise.resolve(keySet.problem()),
    },
    neededOnce: ['postgres', 'keySet'],
    // Partners' reads go on without the feed.
    warnings: feed === undefined ? {} : { feed: feed.problem },
  });
  const refreshing = new AbortController();
  void keepKeysFresh(keySet, refreshing.signal);
  const server = await serveCatalog(config, { database, keySet, tls, logger });

  const lifecycle = createLifecycle({ logger, stopWithParent: config.STOP_WITH_PARENT });
  lifecycle.onStop('readiness', health.stopping);
  lifecycle.onStop('spread', () => waitForEndpointsToSpread(config.SHUTDOWN_DELAY_MS));
  lifecycle.onStop('gRPC', () => Promise.all([server.stop(10_000), feed?.stop(10_000)]).then(() => {}));
  lifecycle.onStop('key set', () => refreshing.abort());
  lifecycle.onStop('telemetry', telemetry.flush);
  lifecycle.onStop('identity', identity.close);
  lifecycle.onStop('Postgres', () => Promise.all([database.close(), feed?.close()]).then(() => {}));
  lifecycle.onStop('health', health.close);
  health.started();
  logger.info('listening', { port: server.port, healthPort: health.port, feedPort: feed?.port });
}

function openReads(config: CatalogConfig, logger: Logger): Database {
  return openDatabase({
    url: postgresAccess('POSTGRES'),
    applicationName: 'design-catalog',
    poolSize: config.POSTGRES_POOL_SIZE,
    statementTimeoutMs,
    readOnly: true,
    schema: 'catalog',
    logger,
  });
}

/** The channel to identity, and the keys that are learnt over it. */
function learnKeys(
  config: CatalogConfig,
  tls: RpcTls | undefined,
): { readonly identity: RpcConnection; readonly keySet: KeySet } {
  const identity = connectRpc([DiscoveryService], {
    target: config.IDENTITY_TARGET,
    reads: ['getKeySet'],
    timeoutMs: keySetTimeoutMs,
    credentials: tls?.channel,
  });
  const discovery = identity.client(DiscoveryService);
  const keySet = createKeySet({
    fetchKeys: async () => (await discovery.getKeySet({})).keys,
    algorithm: config.ACCESS_TOKEN_ALGORITHM,
    now: Date.now,
  });
  return { identity, keySet };
}

interface CatalogMeans {
  readonly database: Database;
  readonly keySet: KeySet;
  readonly tls: RpcTls | undefined;
  readonly logger: Logger;
}

function serveCatalog(
  config: CatalogConfig,
  { database, keySet, tls, logger }: CatalogMeans,
): Promise<RpcServer> {
  const authenticate = createTokenVerification({
    issuer: config.ISSUER,
    algorithm: config.ACCESS_TOKEN_ALGORITHM,
    keySet,
    now: Date.now,
    refused: (reason) => logger.info('token refused', { reason: logText(reason) }),
  });
  const userOf = (owner: Owner) => pseudonym(config.USER_HASH_KEY, owner);
  const handlers = {
    listEvents: listEventsHandler({
      authenticate,
      listEvents: (owner) => listEvents(database, owner),
      listed: (owner, events) => logger.info('events listed', { user: userOf(owner), events }),
    }),
    listDesigns: listDesignsHandler({
      authenticate,
      findEvent: (owner, eventId) => findEventWithDesigns(database, owner, eventId),
      listed: (owner, designs) => logger.info('designs listed', { user: userOf(owner), designs }),
    }),
  };
  return serveRpc({
    address: `${config.RPC_HOST}:${config.RPC_PORT}`,
    services: [served(CatalogService, handlers)],
    errorStatuses,
    logger,
    maxConnectionAgeMs: config.MAX_CONNECTION_AGE_MS,
    credentials: tls?.server,
  });
}
