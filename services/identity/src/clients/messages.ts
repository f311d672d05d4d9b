// Clients, registrations, secrets and plans on the wire: translation only.
import { type MessageInitShape, toJson } from '@bufbuild/protobuf';
import {
  type ClientRegistrationSchema,
  type ClientSchema,
  type DataVolume,
  DataVolumeSchema,
  type DeclaredClient,
  type DeclaredClientSchema,
  PlannedAction,
  type PlannedClientSchema,
  type Contact as WireContact,
  Environment as WireEnvironment,
  type ClientRegistration as WireRegistration,
  ApprovalState as WireState,
} from '@course-exchange/proto/operator/v1/client';
import {
  type ClientSecretSchema,
  SecretState as WireSecretState,
} from '@course-exchange/proto/operator/v1/secret';
import { enumKey } from '@course-exchange/rules/enum-key';
import { DetailedFailure } from '@course-exchange/runtime/process/errors';
import type { Fields } from '../admin/context.ts';
import { changeMessages, timestamps } from '../admin/messages.ts';
import type { ClientId } from '../ids.ts';
import type { Declaration, PlannedClient } from './apply.ts';
import { type ApprovalState, approvalStates, type RegisteredClient } from './client.ts';
import {
  type ClientRegistration,
  type Contact,
  type Environment,
  environments,
} from './client-registration.ts';
import type { Scope } from './scope.ts';
import { secretState } from './secret.ts';
import type { PlainSecret } from './secret-admin.ts';
import type { IssuedSecret } from './secret-table.ts';
import type { ClientView } from './view.ts';

export function approvalState(wire: WireState): ApprovalState | undefined {
  return approvalStates.find((state) => WireState[enumKey(state)] === wire);
}

/** An unnamed environment is this installation's. Throws `invalid_argument` for one named twice. */
export function readRegistration(
  message: WireRegistration | undefined,
  own: Environment,
): ClientRegistration {
  if (message === undefined) throw new DetailedFailure('invalid_argument', 'The registration is missing.');
  const { clientId, name, scopes, userJourney, logoutRequirements } = message;
  const { unlinkingRequirements, retentionRequirements } = message;
  return {
    name,
    userJourney,
    logoutRequirements,
    unlinkingRequirements,
    retentionRequirements,
    // Validated by registrationProblems.
    clientId: clientId as ClientId,
    scopes: scopes as Scope[],
    technicalContact: readContact(message.technicalContact),
    credentialContacts: message.credentialContacts.map(readContact),
    redirectUris: readRedirectUris(message, own),
  };
}

function readRedirectUris(
  message: WireRegistration,
  own: Environment,
): Record<Environment, readonly string[]> {
  const read: Record<Environment, readonly string[]> = { test: [], production: [] };
  const seen = new Set<Environment>();
  for (const { environment, redirectUris } of message.environments) {
    const named = environments.find((one) => WireEnvironment[enumKey(one)] === environment) ?? own;
    if (seen.has(named))
      throw new DetailedFailure('invalid_argument', `The environment ${named} is described twice.`);
    seen.add(named);
    read[named] = redirectUris;
  }
  return read;
}

function readContact(contact: WireContact | undefined): Contact {
  return { name: contact?.name ?? '', email: contact?.email ?? '', phone: contact?.phone ?? '' };
}

function registrationMessage(
  registration: ClientRegistration,
): MessageInitShape<typeof ClientRegistrationSchema> {
  const { technicalContact, redirectUris, scopes, credentialContacts, ...texts } = registration;
  const { name, email, phone } = technicalContact;
  return {
    ...texts,
    scopes: [...scopes],
    credentialContacts: [...credentialContacts],
    ...(name || email || phone ? { technicalContact } : {}),
    environments: environments
      .filter((environment) => redirectUris[environment].length > 0)
      .map((environment) => ({
        environment: WireEnvironment[enumKey(environment)],
        redirectUris: [...redirectUris[environment]],
      })),
  };
}

export function clientMessage(client: ClientView, now: number): MessageInitShape<typeof ClientSchema> {
  const { active, version, gaps, warnings, approvals, secrets } = client;
  return {
    active,
    version,
    warnings: [...warnings],
    registrationGaps: [...gaps],
    registration: registrationMessage(client.registration),
    approvalState: WireState[enumKey(client.approvalState)],
    approvals: approvals.map(({ state, by, at, note }) => ({
      by,
      note,
      state: WireState[enumKey(state)],
      ...timestamps({ at }),
    })),
    secrets: secrets.map((secret) => secretMessage(secret, now)),
    ...timestamps({ createdAt: client.createdAt, changedAt: client.changedAt }),
  };
}

/** As an auditor reads it. */
export function auditedMessage(client: ClientView, now: number): MessageInitShape<typeof ClientSchema> {
  const technicalContact = { name: '', email: '', phone: '' };
  const registration = { ...client.registration, technicalContact, credentialContacts: [] };
  return { ...clientMessage({ ...client, registration }, now), contactsWithheld: true };
}

/** As printed by `partnerctl designs volume --json`. */
export function readVolume(volume: DataVolume | undefined): Fields | undefined {
  return volume && (toJson(DataVolumeSchema, volume, { alwaysEmitImplicit: true }) as Fields);
}

export function secretMessage(
  secret: IssuedSecret,
  now: number,
): MessageInitShape<typeof ClientSecretSchema> {
  const { secretId, clientId, createdAt, expiresAt, retiredAt, lastUsedAt } = secret;
  return {
    secretId,
    clientId,
    state: WireSecretState[enumKey(secretState(secret, now))],
    ...timestamps({ createdAt, expiresAt, retiredAt, lastUsedAt }),
  };
}

export function issuedSecretMessage(secret: PlainSecret | undefined) {
  if (secret?.plain === undefined) return {};
  const { secretId, plain, expiresAt } = secret;
  return { secret: { secretId, plainSecret: plain, ...timestamps({ expiresAt }) } };
}

export function readDeclaration(message: DeclaredClient, own: Environment): Declaration {
  return {
    registration: readRegistration(message.registration, own),
    approvalState: approvalState(message.approvalState),
    active: message.active,
  };
}

export function declarationMessage({
  registration,
  approvalState: state,
  active,
}: RegisteredClient): MessageInitShape<typeof DeclaredClientSchema> {
  return {
    registration: registrationMessage(registration),
    approvalState: WireState[enumKey(state)],
    active,
  };
}

export function planMessages(plan: readonly PlannedClient[]): MessageInitShape<typeof PlannedClientSchema>[] {
  return plan.map(({ clientId, action, version, changes }) => ({
    clientId,
    version,
    action: PlannedAction[enumKey(action)],
    changes: changeMessages(changes),
  }));
}
