// The operator port: its services, on a separate pool and role.
import { AuditService } from '@course-exchange/proto/operator/v1/audit';
import { ClientService } from '@course-exchange/proto/operator/v1/client';
import { ConductService } from '@course-exchange/proto/operator/v1/conduct';
import { ConsentService } from '@course-exchange/proto/operator/v1/consent';
import { KeyService } from '@course-exchange/proto/operator/v1/key';
import { RefusalService } from '@course-exchange/proto/operator/v1/refusal';
import { RestoreService } from '@course-exchange/proto/operator/v1/restore';
import { SecretService } from '@course-exchange/proto/operator/v1/secret';
import { UserService } from '@course-exchange/proto/operator/v1/user';
import { operatorErrorStatuses } from '@course-exchange/rules/error-codes';
import { operatorRoles } from '@course-exchange/rules/operator-roles';
import { createAuditHandlers } from '@course-exchange/runtime/audit/rpc';
import { logAuditHead } from '@course-exchange/runtime/audit/table';
import { actorOf } from '@course-exchange/runtime/grpc/incoming-call';
import type { PrivateListener } from '@course-exchange/runtime/grpc/private-port';
import { expectRole } from '@course-exchange/runtime/grpc/roles';
import { bindService, serveRpc } from '@course-exchange/runtime/grpc/server';
import { openDatabase } from '@course-exchange/runtime/postgres/pool';
import { postgresAccess } from '@course-exchange/runtime/postgres/settings';
import { type Logger, logText } from '@course-exchange/runtime/process/logger';
import { createClientHandlers, createSecretHandlers } from './clients/rpc.ts';
import type { SecretContext } from './clients/secret-admin.ts';
import { createConductHandlers } from './conduct/rpc.ts';
import type { IdentityConfig } from './config.ts';
import type { ConsentContext } from './consents/admin.ts';
import { createConsentHandlers } from './consents/rpc.ts';
import type { RandomBytes } from './ids.ts';
import { createKeyHandlers } from './keys/rpc.ts';
import { createFormCheck, type HashingQueue } from './login/password.ts';
import { accountKey } from './login/throttle.ts';
import { clearFailures } from './login/throttle-store.ts';
import type { RedisStore } from './redis/connect.ts';
import { createRefusalHandlers } from './refusals/rpc.ts';
import type { RequestLog } from './request-log.ts';
import { endingsOf } from './restore/audit-trail.ts';
import type { FenceContext } from './restore/fence.ts';
import { createRestoreHandlers } from './restore/rpc.ts';
import { algorithmsInUse } from './token/jwt.ts';
import type { ImportContext } from './users/import.ts';
import { createUserHandlers } from './users/rpc.ts';

const statementTimeoutMs = 15_000;
/** A batch of users with long names fits. */
const maxRequestBytes = 4 * 1024 * 1024;

/** What the use cases of all operators' services need. */
export type OperatorContext = FenceContext &
  ConsentContext &
  ImportContext &
  SecretContext & { readonly issuer: string };

interface OperatorPortDeps {
  readonly requestLog: RequestLog;
  readonly hashingQueue: HashingQueue;
  readonly redis: RedisStore;
  readonly logger: Logger;
  readonly now: () => number;
  readonly randomBytes: RandomBytes;
}

/** `stop` waits for calls in flight. */
export async function openOperatorPort(
  config: IdentityConfig,
  listener: PrivateListener,
  { requestLog, hashingQueue, redis, logger, now, randomBytes }: OperatorPortDeps,
) {
  const database = openDatabase({
    url: postgresAccess('OPERATOR_POSTGRES'),
    applicationName: 'identity-operator',
    poolSize: 4,
    statementTimeoutMs,
    schema: 'identity',
    logger,
  });
  const { keyedUser } = requestLog;
  const context: OperatorContext = {
    ...requestLog,
    database,
    randomBytes,
    now,
    issuer: config.ISSUER,
    environment: config.ENVIRONMENT,
    approvalByAnother: config.APPROVAL_BY_ANOTHER_OPERATOR,
    algorithms: algorithmsInUse(config.ACCESS_TOKEN_ALGORITHM),
    keyEncryptionKey: config.KEY_ENCRYPTION_KEY,
    previousKeyEncryptionKey: config.KEY_ENCRYPTION_KEY_PREVIOUS,
    verifiesForm: createFormCheck(hashingQueue),
    clearFailedLogins: (email) => clearFailures(redis, accountKey(config.USER_HASH_KEY.reveal(), email)),
    pseudonymize: (text) => `hmac:${keyedUser(`personal:${text}`)}`,
    onUnversionedApproval: (clientId, actor) =>
      logger.warn('approval without version', { client: logText(clientId), operator: logText(actor) }),
    onAudited: (head, actor, changes) => {
      const endings = endingsOf(changes, keyedUser).map(({ action, object }) => `${action} ${object}`);
      logAuditHead(logger, head, actor, endings);
    },
  };
  const checkRole = expectRole(operatorRoles, logger);
  const server = await serveRpc({
    ...listener,
    services: operatorServices(context),
    errorStatuses: operatorErrorStatuses,
    authenticate: (call, method) => {
      actorOf(call);
      checkRole(call, method);
    },
    sendDetails: true,
    logger,
    maxRequestBytes,
  });
  return {
    port: config.OPERATOR_SOCKET === undefined ? server.port : undefined,
    stop: (timeoutMs: number) => server.stop(timeoutMs).finally(database.close),
  };
}

function operatorServices(context: OperatorContext) {
  return [
    bindService(ClientService, createClientHandlers(context)),
    bindService(SecretService, createSecretHandlers(context)),
    bindService(UserService, createUserHandlers(context)),
    bindService(ConductService, createConductHandlers(context)),
    bindService(ConsentService, createConsentHandlers(context)),
    bindService(KeyService, createKeyHandlers(context)),
    bindService(RefusalService, createRefusalHandlers(context)),
    bindService(RestoreService, createRestoreHandlers(context)),
    bindService(AuditService, createAuditHandlers(context.database)),
  ];
}
