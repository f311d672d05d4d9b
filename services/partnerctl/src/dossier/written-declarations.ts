// Clients written as YAML, so that reading the file again changes nothing.
import type { Contact, DeclaredClient, Dossier } from '@course-exchange/proto/operator/v1/client';
import { Document, visit } from 'yaml';
import { escaped, steers } from '../frame/terminal.ts';
import { approvalWord, environmentWord } from './states.ts';

/** One file for `apply`. Holds no secret. */
export function writeDeclarations(clients: readonly DeclaredClient[]): string {
  return written({ clients: clients.map(declared) });
}

/** A dossier file, to fill in or to keep. */
export function writeDossier(dossier: Dossier): string {
  return written(dossierFields(dossier));
}

/** Text that would steer a terminal stands in double quotes, for only there YAML knows escapes. */
function written(content: unknown): string {
  const document = new Document(content);
  visit(document, {
    Scalar: (_, scalar) => {
      if (typeof scalar.value === 'string' && steers(scalar.value)) scalar.type = 'QUOTE_DOUBLE';
    },
  });
  return escaped(document.toString({ lineWidth: 100 }));
}

function declared({ dossier, approvalState, active }: DeclaredClient) {
  const state = approvalWord(approvalState);
  const { clientId, name, ...others } = dossier ? dossierFields(dossier) : {};
  return {
    clientId,
    name,
    ...(state === undefined ? {} : { state }),
    ...(active === undefined ? {} : { active }),
    ...others,
  };
}

function dossierFields(dossier: Dossier) {
  const environments = dossier.environments.flatMap(({ environment, redirectUris }) => {
    const word = environmentWord(environment);
    return word === undefined ? [] : [[word, { redirectUris }]];
  });
  const requirements = [
    ['logout', dossier.logoutRequirements],
    ['unlinking', dossier.unlinkingRequirements],
    ['retention', dossier.retentionRequirements],
  ].filter(([, words]) => words);
  return {
    clientId: dossier.clientId,
    name: dossier.name,
    ...(dossier.technicalContact ? { technicalContact: contactFields(dossier.technicalContact) } : {}),
    ...(dossier.credentialContacts.length > 0
      ? { credentialContacts: dossier.credentialContacts.map(contactFields) }
      : {}),
    environments: Object.fromEntries(environments),
    scopes: dossier.scopes,
    ...(dossier.userJourney ? { userJourney: dossier.userJourney } : {}),
    ...(requirements.length > 0 ? { requirements: Object.fromEntries(requirements) } : {}),
  };
}

function contactFields({ name, email, phone }: Contact) {
  return { name, email, ...(phone ? { phone } : {}) };
}
