// Dossiers between the wire and the domain: translation only. What is wrong with one is for the domain to say.
import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  type DossierSchema,
  type Contact as WireContact,
  type Dossier as WireDossier,
  Environment as WireEnvironment,
  ApprovalState as WireState,
} from '@course-exchange/proto/operator/v1/client';
import { DetailedFailure } from '@course-exchange/runtime/failure';
import type { ApprovalState } from '../../domain/client-approval.ts';
import { type Contact, type Dossier, type Environment, environments } from '../../domain/dossier.ts';
import type { ClientId } from '../../domain/ids.ts';
import type { Scope } from '../../domain/scope.ts';

const wireEnvironments = {
  test: WireEnvironment.TEST,
  production: WireEnvironment.PRODUCTION,
} as const;

export function environmentMessage(environment: Environment): WireEnvironment {
  return wireEnvironments[environment];
}

const wireStates = {
  draft: WireState.DRAFT,
  test: WireState.TEST,
  approved: WireState.APPROVED,
} as const;

export function approvalStateMessage(state: ApprovalState): WireState {
  return wireStates[state];
}

/** Undefined when unspecified. */
export function approvalState(state: WireState): ApprovalState | undefined {
  const found = Object.entries(wireStates).find(([, wire]) => wire === state);
  return found?.[0] as ApprovalState | undefined;
}

/** An environment that is not named is this installation's. Throws `invalid_argument` for one named twice. */
export function readDossier(message: WireDossier | undefined, own: Environment): Dossier {
  if (message === undefined) throw new DetailedFailure('invalid_argument', 'The dossier is missing.');
  const { clientId, name, scopes, userJourney, logoutRequirements } = message;
  const { unlinkingRequirements, retentionRequirements } = message;
  return {
    ...{ name, userJourney, logoutRequirements, unlinkingRequirements, retentionRequirements },
    // Parsing edge: dossierMistakes refuses what is neither.
    clientId: clientId as ClientId,
    scopes: scopes as Scope[],
    technicalContact: readContact(message.technicalContact),
    credentialContacts: message.credentialContacts.map(readContact),
    redirectUris: readRedirectUris(message, own),
  };
}

function readRedirectUris(message: WireDossier, own: Environment): Record<Environment, readonly string[]> {
  const read: Record<Environment, readonly string[]> = { test: [], production: [] };
  const seen = new Set<Environment>();
  for (const { environment, redirectUris } of message.environments) {
    const named = environments.find((one) => wireEnvironments[one] === environment) ?? own;
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

export function dossierMessage(dossier: Dossier): MessageInitShape<typeof DossierSchema> {
  const { technicalContact, redirectUris, scopes, credentialContacts, ...texts } = dossier;
  const { name, email, phone } = technicalContact;
  return {
    ...texts,
    scopes: [...scopes],
    credentialContacts: [...credentialContacts],
    ...(name || email || phone ? { technicalContact } : {}),
    environments: environments
      .filter((environment) => redirectUris[environment].length > 0)
      .map((environment) => ({
        environment: wireEnvironments[environment],
        redirectUris: [...redirectUris[environment]],
      })),
  };
}
