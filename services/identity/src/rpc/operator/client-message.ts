// Clients, secrets and plans on the wire: translation only.
import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  type ClientSchema,
  type DeclaredClient,
  type DeclaredClientSchema,
  PlannedAction,
  type PlannedClientSchema,
} from '@course-exchange/proto/operator/v1/client';
import {
  type ClientSecretSchema,
  type IssuedSecretSchema,
  SecretState as WireSecretState,
} from '@course-exchange/proto/operator/v1/secret';
import { secretState } from '../../domain/client-secret.ts';
import type { Environment } from '../../domain/dossier.ts';
import type { Declaration, PlannedClient } from '../../operator/clients/apply-clients.ts';
import type { ClientView } from '../../operator/clients/client-view.ts';
import type { PlainSecret } from '../../operator/secrets/add-secret.ts';
import type { IssuedSecret } from '../../store/postgres/issued-secrets.ts';
import { changeMessages } from './change-message.ts';
import { approvalState, approvalStateMessage, dossierMessage, readDossier } from './dossier-message.ts';
import { timestamp } from './times.ts';

export function clientMessage(client: ClientView, now: number): MessageInitShape<typeof ClientSchema> {
  const { active, version, gaps, warnings, approvals, secrets } = client;
  return {
    ...{ active, version, warnings: [...warnings], dossierGaps: [...gaps] },
    dossier: dossierMessage(client.dossier),
    approvalState: approvalStateMessage(client.approvalState),
    approvals: approvals.map(({ state, by, at, note }) => ({
      ...{ by, note, state: approvalStateMessage(state) },
      ...optional('at', at),
    })),
    secrets: secrets.map((secret) => secretMessage(secret, now)),
    ...optional('createdAt', client.createdAt),
    ...optional('changedAt', client.changedAt),
  };
}

/** `{ [name]: timestamp }`, or nothing where there is no time. */
export function optional<Name extends string>(name: Name, milliseconds: number | null | undefined) {
  const time = timestamp(milliseconds);
  return (time === undefined ? {} : { [name]: time }) as {
    [N in Name]?: NonNullable<ReturnType<typeof timestamp>>;
  };
}

const wireSecretStates = {
  valid: WireSecretState.VALID,
  'near-expiry': WireSecretState.NEAR_EXPIRY,
  expired: WireSecretState.EXPIRED,
  retired: WireSecretState.RETIRED,
} as const;

export function secretMessage(
  secret: IssuedSecret,
  now: number,
): MessageInitShape<typeof ClientSecretSchema> {
  const { secretId, clientId, createdAt, expiresAt, retiredAt, lastUsedAt } = secret;
  return {
    ...{ secretId, clientId, state: wireSecretStates[secretState(secret, now)] },
    ...optional('createdAt', createdAt),
    ...optional('expiresAt', expiresAt),
    ...optional('retiredAt', retiredAt),
    ...optional('lastUsedAt', lastUsedAt),
  };
}

/** Nothing when there is no plain secret to tell. */
export function issuedSecretMessage(secret: PlainSecret | undefined): {
  secret?: MessageInitShape<typeof IssuedSecretSchema>;
} {
  if (secret?.plain === undefined) return {};
  const { secretId, plain, expiresAt } = secret;
  return { secret: { secretId, plainSecret: plain, ...optional('expiresAt', expiresAt) } };
}

export function readDeclaration(message: DeclaredClient, own: Environment): Declaration {
  return {
    dossier: readDossier(message.dossier, own),
    approvalState: approvalState(message.approvalState),
    active: message.active,
  };
}

export function declarationMessage({
  dossier,
  approvalState: state,
  active,
}: Declaration): MessageInitShape<typeof DeclaredClientSchema> {
  return {
    dossier: dossierMessage(dossier),
    ...(state === undefined ? {} : { approvalState: approvalStateMessage(state) }),
    ...(active === undefined ? {} : { active }),
  };
}

const wireActions = {
  unchanged: PlannedAction.UNCHANGED,
  register: PlannedAction.REGISTER,
  change: PlannedAction.CHANGE,
  deactivate: PlannedAction.DEACTIVATE,
  undeclared: PlannedAction.UNDECLARED,
} as const;

export function planMessages(plan: readonly PlannedClient[]): MessageInitShape<typeof PlannedClientSchema>[] {
  return plan.map(({ clientId, action, version, changes }) => ({
    ...{ clientId, version, action: wireActions[action], changes: changeMessages(changes) },
  }));
}
