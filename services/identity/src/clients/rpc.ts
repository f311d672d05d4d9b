// ClientService and SecretService: translation only.

import { type ClientService, Environment } from '@course-exchange/proto/operator/v1/client';
import type { SecretService } from '@course-exchange/proto/operator/v1/secret';
import { enumKey } from '@course-exchange/rules/enum-key';
import { actorOf, type IncomingCall } from '@course-exchange/runtime/grpc/incoming-call';
import { roleOf } from '@course-exchange/runtime/grpc/roles';
import type { Handlers } from '@course-exchange/runtime/grpc/server';
import { DetailedFailure } from '@course-exchange/runtime/process/errors';
import type { AdminResult } from '../admin/context.ts';
import { accessTokensEndAt, adminRequest, changeMessages, durationMs } from '../admin/messages.ts';
import { editClient, getClient, listClients, registerClient, setActive } from './admin.ts';
import { applyClients, exportClients } from './apply.ts';
import { setApproval } from './approval.ts';
import type { ChangeContext } from './change.ts';
import {
  approvalState,
  auditedMessage,
  clientMessage,
  declarationMessage,
  issuedSecretMessage,
  planMessages,
  readDeclaration,
  readRegistration,
  readVolume,
  secretMessage,
} from './messages.ts';
import { addSecret, listSecrets, resumeSecret, retireSecret, type SecretContext } from './secret-admin.ts';
import type { IssuedSecret } from './secret-table.ts';
import type { ClientView } from './view.ts';

export function createClientHandlers(
  context: ChangeContext & SecretContext & { readonly issuer: string },
): Handlers<typeof ClientService> {
  const { environment } = context;
  const shown = ({ result, changes }: AdminResult<ClientView>) => ({
    client: clientMessage(result, context.now()),
    changes: changeMessages(changes),
  });
  return {
    describeInstallation: async (_request, call) => ({
      issuer: context.issuer,
      environment: Environment[enumKey(environment)],
      actor: actorOf(call),
    }),
    getClient: async ({ clientId }, call) => {
      return { client: messageFor(call)(await getClient(context, clientId), context.now()) };
    },
    listClients: async ({ active, approvalState: state }, call) => {
      const clients = await listClients(context, { active, approvalState: approvalState(state) });
      return { clients: clients.map((client) => messageFor(call)(client, context.now())) };
    },
    exportClients: async () => {
      return { clients: (await exportClients(context)).map(declarationMessage) };
    },
    registerClient: async (request, call) => {
      const { withSecret, secretExpiresIn } = request;
      const firstSecret = withSecret ? { expiresIn: durationMs(secretExpiresIn) } : undefined;
      const registration = readRegistration(request.registration, environment);
      const { result, changes } = await registerClient(context, adminRequest(call, request), {
        registration,
        firstSecret,
      });
      return { ...shown({ result: result.client, changes }), ...issuedSecretMessage(result.secret) };
    },
    editClient: async (request, call) => {
      const registration = readRegistration(request.registration, environment);
      const { expectedVersion, note } = request;
      const edit = { registration, expectedVersion, note };
      return shown(await editClient(context, adminRequest(call, request), edit));
    },
    setApprovalState: async (request, call) => {
      const state = approvalState(request.state);
      if (state === undefined) throw new DetailedFailure('invalid_argument', 'The state is missing.');
      const { clientId, note, expectedVersion } = request;
      const confirmedVolume = readVolume(request.confirmedVolume);
      const step = { clientId, state, note, expectedVersion, confirmedVolume };
      return shown(await setApproval(context, adminRequest(call, request), step));
    },
    activateClient: async (request, call) =>
      shown(await setActive(context, adminRequest(call, request), { ...request, active: true })),
    deactivateClient: async (request, call) => {
      const done = await setActive(context, adminRequest(call, request), { ...request, active: false });
      return { ...shown(done), ...accessTokensEndAt(context.now()) };
    },
    planClients: async (request, call) =>
      planOf(context, call, { ...request, dryRun: true, expectedVersions: [] }),
    applyClients: async (request, call) => planOf(context, call, request),
  };
}

function messageFor(call: IncomingCall) {
  return roleOf(call) === 'auditor' ? auditedMessage : clientMessage;
}

type ApplyRequest = Omit<Parameters<Handlers<typeof ClientService>['applyClients']>[0], '$typeName'>;

async function planOf(context: ChangeContext, call: IncomingCall, request: ApplyRequest) {
  const set = {
    declarations: request.clients.map((client) => readDeclaration(client, context.environment)),
    deactivateUndeclared: request.deactivateUndeclared,
    note: request.note,
    expectedVersions: new Map(request.expectedVersions.map(({ clientId, version }) => [clientId, version])),
  };
  return { clients: planMessages(await applyClients(context, adminRequest(call, request), set)) };
}

export function createSecretHandlers(context: SecretContext): Handlers<typeof SecretService> {
  const shown = ({ result, changes }: AdminResult<IssuedSecret>) => ({
    secret: secretMessage(result, context.now()),
    changes: changeMessages(changes),
  });
  return {
    addSecret: async (request, call) => {
      const { clientId, expiresIn } = request;
      const asked = { clientId, expiresIn: durationMs(expiresIn) };
      const { result, changes } = await addSecret(context, adminRequest(call, request), asked);
      return { ...issuedSecretMessage(result), changes: changeMessages(changes) };
    },
    listSecrets: async ({ clientId }) => {
      const secrets = await listSecrets(context, clientId);
      return { secrets: secrets.map((secret) => secretMessage(secret, context.now())) };
    },
    retireSecret: async (request, call) =>
      shown(await retireSecret(context, adminRequest(call, request), request)),
    resumeSecret: async (request, call) =>
      shown(await resumeSecret(context, adminRequest(call, request), request)),
  };
}
