// The identity service: reads its configuration, opens its stores, serves gRPC until it is told to stop.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { errorStatuses } from '@course-exchange/proto/error-codes';
import { AuthorizationService } from '@course-exchange/proto/identity/v1/authorization';
import { DiscoveryService } from '@course-exchange/proto/identity/v1/discovery';
import { TokenService } from '@course-exchange/proto/identity/v1/token';
import { serveHealth } from '@course-exchange/runtime/health';
import { createLifecycle, waitForEndpointsToSpread } from '@course-exchange/runtime/lifecycle';
import { createLogger, logText } from '@course-exchange/runtime/logger';
import { newestMigration } from '@course-exchange/runtime/migrations';
import { startProcess } from '@course-exchange/runtime/process-start';
import { pseudonym } from '@course-exchange/runtime/pseudonym';
import { served, serveRpc } from '@course-exchange/runtime/rpc-server';
import { startTelemetry } from '@course-exchange/runtime/telemetry';
import { openAuthorization } from './authorization-endpoint.ts';
import { type IdentityConfig, readConfig } from './config.ts';
import { idTokenAlgorithm } from './domain/signing-algorithm.ts';
import type { IssuedTokens } from './grants/token-endpoint.ts';
import { openOperatorPort, operatorListener } from './operator-port.ts';
import { readinessChecks } from './readiness.ts';
import { createAuthorizationHandlers } from './rpc/authorization-handlers.ts';
import { exchangeTokenHandler } from './rpc/exchange-token.ts';
import { getDiscoveryHandler } from './rpc/get-discovery.ts';
import { getKeySetHandler } from './rpc/get-key-set.ts';
import { getUserInfoHandler } from './rpc/get-user-info.ts';
import { createSecretUse } from './secret-use.ts';
import { pollKeys } from './signing/key-polling.ts';
import { createKeyRing } from './signing/key-ring.ts';
import { listPublishedKeys } from './store/postgres/signing-keys.ts';
import { readSettingsWarning } from './store/redis/redis-settings.ts';
import { openStores } from './stores.ts';

await startProcess(() => main(readConfig()));

async function main(config: IdentityConfig): Promise<void> {
  const listener = operatorListener(config);
  const logger = createLogger('identity', config.LOG_LEVEL);
  const telemetry = startTelemetry({
    service: 'identity',
    version: '0.1.0',
    otlpEndpoint: config.OTEL_EXPORTER_OTLP_ENDPOINT,
    sampleRatio: config.OTEL_TRACES_SAMPLER_ARG,
  });
  const { database, reads, redis } = openStores(config, logger);
  redis.redis.once('ready', async () => {
    const warning = await readSettingsWarning(redis);
    if (warning) logger.warn('Redis settings differ', { settings: logText(warning) });
  });
  const keys = createKeyRing({
    readKeys: () => listPublishedKeys(database),
    keyEncryptionKey: config.KEY_ENCRYPTION_KEY,
    previousKeyEncryptionKey: config.KEY_ENCRYPTION_KEY_PREVIOUS,
    needed: [...new Set([idTokenAlgorithm, config.ACCESS_TOKEN_ALGORITHM])],
  });
  const tokens = { keys, issuer: config.ISSUER, algorithm: config.ACCESS_TOKEN_ALGORITHM };
  const onIssued = ({ grantType, clientId, sub }: IssuedTokens): void =>
    logger.info('tokens issued', {
      grant: logText(grantType),
      client: logText(clientId),
      user: pseudonym(config.USER_HASH_KEY, sub),
    });
  const onSecretUsed = createSecretUse(database, Date.now, logger);
  const endpoint = { database, redis, tokens, now: Date.now, randomBytes, onIssued, onSecretUsed };
  const authorization = await openAuthorization(
    endpoint,
    config.LOGIN_HASHING_CONCURRENCY,
    config.USER_HASH_KEY,
  );

  const schemaVersion = newestMigration(join(import.meta.dirname, '../migrations'));
  const health = await serveHealth({
    host: config.HEALTH_HOST,
    port: config.HEALTH_PORT,
    checks: readinessChecks({ database, redis, keys, schemaVersion }),
    warnings: { redisSettings: () => readSettingsWarning(redis) },
  });
  const polling = new AbortController();
  void pollKeys(keys, logger, polling.signal);

  const server = await serveRpc({
    address: `${config.RPC_HOST}:${config.RPC_PORT}`,
    services: [
      served(AuthorizationService, createAuthorizationHandlers(authorization)),
      served(TokenService, {
        exchangeToken: exchangeTokenHandler({ ...endpoint, database: reads }),
        getUserInfo: getUserInfoHandler({ ...endpoint, database: reads }),
      }),
      served(DiscoveryService, {
        getDiscovery: getDiscoveryHandler(config.ISSUER),
        getKeySet: getKeySetHandler(keys),
      }),
    ],
    errorStatuses,
    logger,
    maxConnectionAgeMs: config.MAX_CONNECTION_AGE_MS,
  });

  const operators =
    listener && (await openOperatorPort(config, listener, { now: Date.now, randomBytes, logger }));

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
  logger.info('listening', {
    port: server.port,
    healthPort: health.port,
    operatorPort: operators?.port,
  });
}
