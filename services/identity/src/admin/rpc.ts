// The services of the operator port.
import { AuditService } from '@course-exchange/proto/operator/v1/audit';
import { ClientService } from '@course-exchange/proto/operator/v1/client';
import { ConductService } from '@course-exchange/proto/operator/v1/conduct';
import { ConsentService } from '@course-exchange/proto/operator/v1/consent';
import { KeyService } from '@course-exchange/proto/operator/v1/key';
import { RefusalService } from '@course-exchange/proto/operator/v1/refusal';
import { RestoreService } from '@course-exchange/proto/operator/v1/restore';
import { SecretService } from '@course-exchange/proto/operator/v1/secret';
import { UserService } from '@course-exchange/proto/operator/v1/user';
import { createAuditHandlers } from '@course-exchange/runtime/audit/rpc';
import { bindService } from '@course-exchange/runtime/grpc/server';
import { createClientHandlers, createSecretHandlers } from '../clients/rpc.ts';
import { createConductHandlers } from '../conduct/rpc.ts';
import { createConsentHandlers } from '../consents/rpc.ts';
import { createKeyHandlers } from '../keys/rpc.ts';
import { createRefusalHandlers } from '../refusals/rpc.ts';
import { createRestoreHandlers } from '../restore/rpc.ts';
import { createUserHandlers } from '../users/rpc.ts';
import type { AdminContext } from './context.ts';

export function operatorServices(context: AdminContext) {
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
