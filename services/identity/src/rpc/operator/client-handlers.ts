// ClientService: translation only.
import type { ClientService } from '@course-exchange/proto/operator/v1/client';
import { actorOf } from '@course-exchange/runtime/caller-name';
import { DetailedFailure } from '@course-exchange/runtime/failure';
import type { IncomingCall } from '@course-exchange/runtime/incoming-call';
import type { Handlers } from '@course-exchange/runtime/rpc-server';
import { setActive } from '../../operator/clients/activation.ts';
import { applyClients } from '../../operator/clients/apply-clients.ts';
import type { ClientView } from '../../operator/clients/client-view.ts';
import { editClient } from '../../operator/clients/edit-client.ts';
import { exportClients, getClient, listClients } from '../../operator/clients/read-clients.ts';
import { registerClient } from '../../operator/clients/register-client.ts';
import { setApproval } from '../../operator/clients/set-approval.ts';
import type { Desk, Outcome } from '../../operator/desk.ts';
import { orderOf } from './caller.ts';
import { changeMessages } from './change-message.ts';
import {
  clientMessage,
  declarationMessage,
  issuedSecretMessage,
  planMessages,
  readDeclaration,
} from './client-message.ts';
import { approvalState, environmentMessage, readDossier } from './dossier-message.ts';
import { accessTokensEnd, durationMs } from './times.ts';

export function createClientHandlers(desk: Desk): Handlers<typeof ClientService> {
  const { environment } = desk;
  const shown = ({ result, changes }: Outcome<ClientView>) => ({
    client: clientMessage(result, desk.now()),
    changes: changeMessages(changes),
  });
  return {
    ...readingHandlers(desk),
    registerClient: async (request, call) => {
      const { dossier, withSecret, secretExpiresIn } = request;
      const firstSecret = withSecret ? { expiresIn: durationMs(secretExpiresIn) } : undefined;
      const registration = { dossier: readDossier(dossier, environment), firstSecret };
      const { result, changes } = await registerClient(desk, orderOf(call, request), registration);
      return { ...shown({ result: result.client, changes }), ...issuedSecretMessage(result.secret) };
    },
    editClient: async (request, call) => {
      const dossier = readDossier(request.dossier, environment);
      const { expectedVersion } = request;
      return shown(await editClient(desk, orderOf(call, request), { dossier, expectedVersion }));
    },
    setApprovalState: async (request, call) => {
      const state = approvalState(request.state);
      if (state === undefined) throw new DetailedFailure('invalid_argument', 'The state is missing.');
      const { clientId, note, expectedVersion } = request;
      return shown(
        await setApproval(desk, orderOf(call, request), { clientId, state, note, expectedVersion }),
      );
    },
    activateClient: async (request, call) =>
      shown(await setActive(desk, orderOf(call, request), { ...request, active: true })),
    deactivateClient: async (request, call) => {
      const outcome = await setActive(desk, orderOf(call, request), { ...request, active: false });
      const end = accessTokensEnd(desk.now());
      return { ...shown(outcome), ...(end ? { accessTokensEndAt: end } : {}) };
    },
    planClients: async (request, call) =>
      planOf(desk, call, { ...request, dryRun: true, expectedVersions: [] }),
    applyClients: async (request, call) => planOf(desk, call, request),
  };
}

type ApplyRequest = Pick<
  Parameters<Handlers<typeof ClientService>['applyClients']>[0],
  'clients' | 'deactivateUndeclared' | 'expectedVersions' | 'dryRun'
>;

async function planOf(desk: Desk, call: IncomingCall, request: ApplyRequest) {
  const set = {
    declarations: request.clients.map((client) => readDeclaration(client, desk.environment)),
    deactivateUndeclared: request.deactivateUndeclared,
    expectedVersions: new Map(request.expectedVersions.map(({ clientId, version }) => [clientId, version])),
  };
  return { clients: planMessages(await applyClients(desk, orderOf(call, request), set)) };
}

type Reading = 'describeInstallation' | 'getClient' | 'listClients' | 'exportClients';

function readingHandlers(desk: Desk): Pick<Handlers<typeof ClientService>, Reading> {
  return {
    describeInstallation: async (_request, call) => ({
      issuer: desk.issuer,
      environment: environmentMessage(desk.environment),
      actor: actorOf(call),
    }),
    getClient: async ({ clientId }, call) => {
      actorOf(call);
      return { client: clientMessage(await getClient(desk, clientId), desk.now()) };
    },
    listClients: async ({ active, approvalState: state }, call) => {
      actorOf(call);
      const clients = await listClients(desk, { active, approvalState: approvalState(state) });
      return { clients: clients.map((client) => clientMessage(client, desk.now())) };
    },
    exportClients: async (_request, call) => {
      actorOf(call);
      return { clients: (await exportClients(desk)).map(declarationMessage) };
    },
  };
}
