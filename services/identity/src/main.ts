// The identity service: reads its configuration, opens its stores, serves gRPC until it is told to stop.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { errorStatuses } from '@course-exchange/proto/error-codes';
import { serveHealth } from '@course-exchange/runtime/health';
import { createLifecycle, waitForEndpointsToSpread } from '@course-exchange/runtime/lifecycle';
import { createLogger, type Logger, logText } from '@course-exchange/runtime/logger';
import { newestMigration } from '@course-exchange/runtime/migrations';
import type { Database } from '@course-exchange/runtime/postgres';
import { startProcess } from '@course-exchange/runtime/process-start';
import { type RpcServer, type ServedService, serveRpc } from '@course-exchange/runtime/rpc-server';
import { openRpcTls, type RpcTls } from '@course-exchange/runtime/rpc-tls';
import { startTelemetry } from '@course-exchange/runtime/telemetry';
import { type IdentityConfig, readConfig } from './config.ts';
import { idTokenAlgorithm } from './domain/signing-algorithm.ts';
import { identityServices } from './identity-services.ts';
import { openOperatorPort, operatorListener } from './operator-port.ts';
import { readinessChecks } from './readiness.ts';
import { pollKeys } from './signing/key-polling.ts';
import { createKeyRing, type KeyRing } from './signing/key-ring.ts';
import { listPublishedKeys } from './store/postgres/signing-keys.ts';
import { readSettingsWarning } from './store/redis/redis-settings.ts';
import { openStores, type Stores } from './stores.ts';

await startProcess(() => main(readConfig()));

async function main(config: IdentityConfig): Promise<void> {
  const listener = operatorListener(config);
  const logger = createLogger('identity', config.LOG_LEVEL);
  const tls = openRpcTls(config.RPC_TLS_DIRECTORY, logger);
  const telemetry = startTelemetry({
    service: 'identity',
    version: '0.1.0',
    otlpEndpoint: config.OTEL_EXPORTER_OTLP_ENDPOINT,
    sampleRatio: config.OTEL_TRACES_SAMPLER_ARG,
  });
  const stores = openStores(config, logger);
  const { database, reads, redis } = stores;
  warnOnceOfRedisSettings(redis, logger);
  const keys = openKeys(config, database);
  const schemaVersion = newestMigration(join(import.meta.dirname, '../migrations'));
  const health = await serveHealth({
    host: config.HEALTH_HOST,
    port: config.HEALTH_PORT,
    checks: readinessChecks({ database, redis, keys, schemaVersion }),
    neededOnce: ['postgres'],
    neededAlways: ['signingKeys'],
    warnings: { redisSettings: () => readSettingsWarning(redis) },
  });
  const polling = new AbortController();
  void pollKeys(keys, logger, polling.signal);
  const means = { now: Date.now, randomBytes, logger };
  const services = await identityServices(config, { ...means, stores, keys });
  const server = await serveIdentity(config, services, tls, logger);
  const operators = listener && (await openOperatorPort(config, listener, means));

  const lifecycle = createLifecycle({ logger, stopWithParent: config.STOP_WITH_PARENT });
  lifecycle.onStop('readiness', health.stopping);
  lifecycle.onStop('spread', () => waitForEndpointsToSpread(config.SHUTDOWN_DELAY_MS));
  lifecycle.onStop('gRPC', () => server.stop(10_000));
  if (operators) lifecycle.onStop('operator port', () => operators.stop(2_000));
  lifecycle.onStop('key polling', () => polling.abort());
  lifecycle.onStop('telemetry', telemetry.flush);
  lifecycle.onStop('Redis', redis.close);
  lifecycle.onStop('Postgres', () => Promise.all([database.close(), reads.close()]).then(() => {}));
  lifecycle.onStop('health', health.close);
  health.started();
  logger.info('listening', { port: server.port, healthPort: health.port, operatorPort: operators?.port });
}

function warnOnceOfRedisSettings(redis: Stores['redis'], logger: Logger): void {
  redis.onceReady(async () => {
    const warning = await readSettingsWarning(redis);
    if (warning) logger.warn('Redis settings differ', { settings: logText(warning) });
  });
}

function openKeys(config: IdentityConfig, database: Database): KeyRing {
  return createKeyRing({
    readKeys: () => listPublishedKeys(database),
    keyEncryptionKey: config.KEY_ENCRYPTION_KEY,
    previousKeyEncryptionKey: config.KEY_ENCRYPTION_KEY_PREVIOUS,
    needed: [...new Set([idTokenAlgorithm, config.ACCESS_TOKEN_ALGORITHM])],
  });
}

function serveIdentity(
  config: IdentityConfig,
  services: readonly ServedService[],
  tls: RpcTls | undefined,
  logger: Logger,
): Promise<RpcServer> {
  return serveRpc({
    address: `${config.RPC_HOST}:${config.RPC_PORT}`,
    services,
    errorStatuses,
    logger,
    maxConnectionAgeMs: config.MAX_CONNECTION_AGE_MS,
    credentials: tls?.server,
  });
}
