// The operator port: a pool of its own, as a role of its own, on a port of its own; a part of main. Without
// OPERATOR_POSTGRES_URL there is none.
import { setTimeout as sleep } from 'node:timers/promises';
import { AuditService } from '@course-exchange/proto/operator/v1/audit';
import { ClientService } from '@course-exchange/proto/operator/v1/client';
import { ConsentService } from '@course-exchange/proto/operator/v1/consent';
import { KeyService } from '@course-exchange/proto/operator/v1/key';
import { SecretService } from '@course-exchange/proto/operator/v1/secret';
import { UserService } from '@course-exchange/proto/operator/v1/user';
import { operatorErrorStatuses } from '@course-exchange/proto/operator-error-codes';
import { type Logger, logText } from '@course-exchange/runtime/logger';
import { openDatabase } from '@course-exchange/runtime/postgres';
import { postgresAccess } from '@course-exchange/runtime/postgres-settings';
import { type PrivateListener, privateListener } from '@course-exchange/runtime/private-port';
import { pseudonym } from '@course-exchange/runtime/pseudonym';
import { served, serveRpc } from '@course-exchange/runtime/rpc-server';
import { type IdentityConfig, operatorAddress } from './config.ts';
import { idTokenAlgorithm } from './domain/signing-algorithm.ts';
import type { Desk } from './operator/desk.ts';
import { createAuditHandlers } from './rpc/operator/audit-handlers.ts';
import { createClientHandlers } from './rpc/operator/client-handlers.ts';
import { createConsentHandlers } from './rpc/operator/consent-handlers.ts';
import { createKeyHandlers } from './rpc/operator/key-handlers.ts';
import { createSecretHandlers } from './rpc/operator/secret-handlers.ts';
import { createUserHandlers } from './rpc/operator/user-handlers.ts';

export interface OperatorPort {
  readonly port: number;
  /** Waits for calls in progress, at most `timeoutMs`. */
  readonly stop: (timeoutMs: number) => Promise<void>;
}

/** Throws ConfigurationError where strangers could reach it. Undefined: there is no operator port. */
export function operatorListener(config: IdentityConfig): PrivateListener | undefined {
  if (config.OPERATOR_POSTGRES_URL === undefined) return undefined;
  return privateListener(operatorAddress(config));
}

export type OperatorMeans = Pick<Desk, 'now' | 'randomBytes'> & { readonly logger: Logger };

/** A batch of users with long names fits. */
const maxRequestBytes = 4 * 1024 * 1024;
const statementTimeoutMs = 15_000;

export async function openOperatorPort(
  config: IdentityConfig,
  listener: PrivateListener,
  means: OperatorMeans,
): Promise<OperatorPort> {
  const { logger } = means;
  const desk = openDesk(config, means);
  const server = await serveRpc({
    ...listener,
    services: [
      served(ClientService, createClientHandlers(desk)),
      served(SecretService, createSecretHandlers(desk)),
      served(UserService, createUserHandlers(desk)),
      served(ConsentService, createConsentHandlers(desk)),
      served(KeyService, createKeyHandlers(desk)),
      served(AuditService, createAuditHandlers(desk)),
    ],
    errorStatuses: operatorErrorStatuses,
    sendDetails: true,
    logger,
    maxRequestBytes,
  });
  return {
    port: server.port,
    stop: async (timeoutMs) => {
      await server.stop(timeoutMs);
      await desk.database.close();
    },
  };
}

function openDesk(config: IdentityConfig, { now, randomBytes, logger }: OperatorMeans): Desk {
  const database = openDatabase({
    url: postgresAccess('OPERATOR_POSTGRES'),
    applicationName: 'identity-operator',
    poolSize: 4,
    statementTimeoutMs,
    schema: 'identity',
    logger,
  });
  return {
    ...{ database, randomBytes, now },
    sleep: (milliseconds) => sleep(milliseconds),
    issuer: config.ISSUER,
    environment: config.ENVIRONMENT,
    algorithms: [...new Set([idTokenAlgorithm, config.ACCESS_TOKEN_ALGORITHM])],
    keyEncryptionKey: config.KEY_ENCRYPTION_KEY,
    previousKeyEncryptionKey: config.KEY_ENCRYPTION_KEY_PREVIOUS,
    personal: (text) => `hmac:${pseudonym(config.USER_HASH_KEY, `personal:${text}`)}`,
    // The log keeps the chain's end outside the database: a log that was cut off or written anew shows.
    onAudited: ({ sequence, hash }, actor) =>
      logger.info('audited', { sequence, hash: logText(hash), operator: logText(actor) }),
  };
}
