// A client's fields as the audit log and a plan show them: people at the partner stand as keyed hashes.
import type { Fields } from '../../domain/change.ts';
import type { ClientState } from '../../domain/client-approval.ts';
import type { Contact } from '../../domain/dossier.ts';
import type { Desk } from '../desk.ts';

export function clientFields({ personal }: Pick<Desk, 'personal'>, client: ClientState): Fields {
  const { dossier, active, approvalState } = client;
  const person = ({ name, email, phone }: Contact) => {
    const parts = Object.entries({ name, email, phone }).filter(([, value]) => value !== '');
    return parts.length === 0
      ? undefined
      : Object.fromEntries(parts.map(([what, value]) => [what, personal(value)]));
  };
  const { test, production } = dossier.redirectUris;
  return {
    name: dossier.name,
    approval_state: approvalState,
    active,
    scopes: dossier.scopes,
    'redirect_uris.test': listed(test),
    'redirect_uris.production': listed(production),
    technical_contact: person(dossier.technicalContact),
    credential_contacts: listed(dossier.credentialContacts.map(person)),
    user_journey: dossier.userJourney,
    logout_requirements: dossier.logoutRequirements,
    unlinking_requirements: dossier.unlinkingRequirements,
    retention_requirements: dossier.retentionRequirements,
  };
}

/** An empty list counts as absent. */
function listed<T>(items: readonly T[]): readonly T[] | undefined {
  return items.length === 0 ? undefined : items;
}
