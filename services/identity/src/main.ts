// The identity process. The one file that constructs anything.
import { randomBytes as randomBytesOfNode } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AuthorizationService } from '@course-exchange/proto/identity/v1/authorization';
import { DiscoveryService } from '@course-exchange/proto/identity/v1/discovery';
import { TokenService } from '@course-exchange/proto/identity/v1/token';
import { serviceErrorStatuses } from '@course-exchange/rules/error-codes';
import { timeBudget } from '@course-exchange/rules/time-budget';
import { peerOf } from '@course-exchange/runtime/grpc/peer';
import { privateListener, privatePort } from '@course-exchange/runtime/grpc/private-port';
import { runProcess } from '@course-exchange/runtime/grpc/process';
import { bindService, serveRpc } from '@course-exchange/runtime/grpc/server';
import { openReads } from '@course-exchange/runtime/postgres/pipelined-reads';
import { openDatabase } from '@course-exchange/runtime/postgres/pool';
import { newestMigration } from '@course-exchange/runtime/postgres/schema-version';
import { postgresAccess } from '@course-exchange/runtime/postgres/settings';
import { type Logger, logText } from '@course-exchange/runtime/process/logger';
import { createInteractionSeal } from './authorize/interaction-store.ts';
import { createAuthorizationHandlers } from './authorize/rpc.ts';
import { createSecretUse } from './clients/secret-table.ts';
import { deleteOldConduct } from './conduct/conduct-table.ts';
import { createConductCounters } from './conduct/counters.ts';
import { type IdentityConfig, readConfig } from './config.ts';
import { createDiscoveryHandlers, expectGatewayOrKeySet } from './discovery/rpc.ts';
import { listPublishedKeys } from './keys/key-table.ts';
import { createKeyRing, pollKeys } from './keys/ring.ts';
import { createHashingQueue, createPasswordVerifier, createRehash } from './login/password.ts';
import { createFormReport } from './login/unverifiable-forms.ts';
import { openOperatorPort } from './operator-port.ts';
import { observeStores, readinessChecks, readinessWarnings } from './readiness.ts';
import { connectRedis } from './redis/connect.ts';
import { readSettingsWarning } from './redis/durability.ts';
import { redisTarget } from './redis/settings.ts';
import type { RefusalRecord } from './refusals/reasons.ts';
import { createRefusalQueue, keepCleaning } from './refusals/records.ts';
import { cleanRefusals, insertRefusals } from './refusals/refusal-table.ts';
import {
  cleanSupersededFamilies,
  type EndedFamily,
  insertSupersededFamilies,
} from './refusals/superseded-table.ts';
import { createRequestLog } from './request-log.ts';
import { pooled } from './secrets.ts';
import { createFamilyBound } from './token/family-bound.ts';
import type { TokenDeps } from './token/grant.ts';
import { algorithmsInUse } from './token/jwt.ts';
import { createTokenHandlers } from './token/rpc.ts';
import { listPasswordForms } from './users/user-table.ts';

/** 5 s at most, half of R14.5's ten; a password in another normal form than NFC takes twice its share. */
const waitingPerHash = 50;

const now = Date.now;
const randomBytes = pooled(randomBytesOfNode);

await runProcess('identity', readConfig, async (config, logger, tls) => {
  // Throws, before a store or port is opened, if strangers could reach the port.
  const operatorListener =
    config.OPERATOR_POSTGRES_URL === undefined
      ? undefined
      : privateListener(privatePort('OPERATOR', config), logger);

  // Stores connect in the background: the process starts, unready, without them.
  const { database, pipelined, redis } = openStores(config, logger);
  const { KEY_ENCRYPTION_KEY: key, KEY_ENCRYPTION_KEY_PREVIOUS: previous } = config;
  const encryptionKeys = previous ? [key, previous] : [key];
  const keys = createKeyRing({
    readKeys: () => listPublishedKeys(database),
    encryptionKeys,
    needed: algorithmsInUse(config.ACCESS_TOKEN_ALGORITHM),
  });
  const polling = new AbortController();
  void pollKeys(keys, logger, polling.signal);
  const clean = () =>
    Promise.all([cleanRefusals(database), cleanSupersededFamilies(database), deleteOldConduct(database)]);
  void keepCleaning(clean, logger, polling.signal);
  observeStores({ database, redis, keys, now });

  const tokens = { keys, issuer: config.ISSUER, algorithm: config.ACCESS_TOKEN_ALGORITHM };
  const write = (records: readonly RefusalRecord[]) => insertRefusals(database, records);
  const refusals = createRefusalQueue({ write, now, logger });
  const requestLog = createRequestLog(logger, config.USER_HASH_KEY, refusals);
  const conduct = createConductCounters({ database, now, logger });
  const families = createFamilyBound({
    ...{ ...requestLog, redis, most: config.MAX_REFRESH_FAMILIES, now, logger },
    record: (ended: readonly EndedFamily[]) => insertSupersededFamilies(database, ended),
  });
  const common = { ...requestLog, conduct, redis, tokens, now, randomBytes };
  const tokenDeps: TokenDeps = {
    ...common,
    families,
    database: pipelined,
    onSecretUsed: createSecretUse({ database, now, logger }),
  };
  const concurrency = config.LOGIN_HASHING_CONCURRENCY;
  const hashingQueue = createHashingQueue({ concurrency, waiting: concurrency * waitingPerHash });
  const authorizeDeps = {
    ...common,
    database,
    seal: createInteractionSeal(encryptionKeys),
    sleep,
    rehash: createRehash(hashingQueue),
    verifyPassword: createPasswordVerifier({
      queue: hashingQueue,
      heldForms: () => listPasswordForms(database),
      onUnverifiableForm: createFormReport(database, logger),
    }),
    accountsKey: config.USER_HASH_KEY,
  };
  const server = await serveRpc({
    address: `${config.RPC_HOST}:${config.RPC_PORT}`,
    services: [
      bindService(AuthorizationService, createAuthorizationHandlers(authorizeDeps)),
      bindService(TokenService, createTokenHandlers(tokenDeps)),
      bindService(DiscoveryService, createDiscoveryHandlers(tokens)),
    ],
    errorStatuses: serviceErrorStatuses,
    authenticate:
      tls &&
      expectGatewayOrKeySet(
        peerOf('gateway', 'GATEWAY_TLS_NAMES', config.GATEWAY_TLS_NAMES, logger),
        peerOf('design-catalog', 'CATALOG_TLS_NAMES', config.CATALOG_TLS_NAMES, logger),
      ),
    logger,
    maxConnectionAgeMs: config.MAX_CONNECTION_AGE_MS,
    credentials: tls?.server,
  });

  const operators =
    operatorListener &&
    (await openOperatorPort(config, operatorListener, {
      ...{ requestLog, hashingQueue, redis, logger, now, randomBytes },
    }));

  const schemaVersion = newestMigration(join(import.meta.dirname, '../migrations'));
  return {
    health: {
      checks: readinessChecks({ database, redis, keys, schemaVersion }),
      startupGate: ['postgres'],
      readinessGate: ['signingKeys'],
      warnings: readinessWarnings(redis),
    },
    steps: {
      gRPC: () => server.stop(10_000),
      'operator port': () => operators?.stop(2_000),
      polling: () => polling.abort(),
      'refresh families': families.flush,
      'refusal records': refusals.flush,
      conduct: conduct.flush,
      Redis: redis.close,
      Postgres: () => Promise.all([database.close(), pipelined.close()]),
    },
    ports: { port: server.port, operatorPort: operators?.port },
  };
});

function openStores(config: IdentityConfig, logger: Logger) {
  const postgres = {
    url: postgresAccess('POSTGRES'),
    applicationName: 'identity',
    statementTimeoutMs: timeBudget.identityStore,
    schema: 'identity',
    logger,
  };
  const redis = connectRedis({
    target: redisTarget(config),
    connectionName: 'identity',
    commandTimeoutMs: timeBudget.identityStore,
    minReplicas: config.REDIS_MIN_REPLICAS,
    logger,
  });
  void redis.ready().then(async () => {
    const warning = await readSettingsWarning(redis);
    if (warning) logger.warn('Redis settings differ', { settings: logText(warning) });
  });
  return {
    database: openDatabase({ ...postgres, poolSize: config.POSTGRES_POOL_SIZE }),
    /** One short read for each token or user-info request. */
    pipelined: openReads({ ...postgres, readOnly: true }),
    redis,
  };
}
