// What a partner supplies for its registration (specification §1), what may be wrong with it, and what it still
// lacks. A registered redirect URI is kept as it was written (R3).
import { type ClientId, isClientId } from './ids.ts';
import { registrationMistake } from './redirect-uri.ts';
import { knownScopes, type Scope } from './scope.ts';

export const environments = ['test', 'production'] as const;
export type Environment = (typeof environments)[number];

export interface Contact {
  readonly name: string;
  readonly email: string;
  readonly phone: string;
}

export interface Dossier {
  readonly clientId: ClientId;
  readonly name: string;
  readonly technicalContact: Contact;
  /** Who receives secrets and is called for a rotation. */
  readonly credentialContacts: readonly Contact[];
  /** Each installation uses those of its own environment (R28) and keeps the others. */
  readonly redirectUris: Readonly<Record<Environment, readonly string[]>>;
  readonly scopes: readonly Scope[];
  readonly userJourney: string;
  readonly logoutRequirements: string;
  readonly unlinkingRequirements: string;
  readonly retentionRequirements: string;
}

const longestText = 4_000;
const mostRedirectUris = 50;
const longestUri = 2_000;

/** One sentence for each mistake; empty when the dossier may be registered in `own`. */
export function dossierMistakes(dossier: Dossier, own: Environment): string[] {
  return [
    ...clientIdMistakes(dossier.clientId),
    ...nameMistakes(dossier.name),
    ...scopeMistakes(dossier.scopes),
    ...(dossier.redirectUris[own].length === 0
      ? [`There is no redirect URI for the environment ${own}.`]
      : []),
    ...environments.flatMap((environment) => uriMistakes(environment, dossier.redirectUris[environment])),
    ...[dossier.technicalContact, ...dossier.credentialContacts].flatMap(contactMistakes),
    ...Object.entries(texts(dossier)).flatMap(([what, value]) =>
      value.length > longestText ? [`More than ${longestText} characters describe the ${what}.`] : [],
    ),
    ...Object.entries(texts(dossier)).flatMap(([what, value]) =>
      unprintable.test(value.replace(/[\n\r\t]/g, '')) ? [`The ${what}: a character cannot be shown.`] : [],
    ),
  ];
}

function clientIdMistakes(clientId: string): string[] {
  if (!isClientId(clientId)) return ['The client id is not 1 to 64 characters of A–Z a–z 0–9 _ -.'];
  return clientId === 'design-api' ? ['The client id "design-api" is the name of the resource API.'] : [];
}

/** Control characters, halves of characters, and marks that turn the direction of the text around them. */
const unprintable = /[\p{Cc}\p{Cs}\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

function nameMistakes(name: string): string[] {
  const printable = !unprintable.test(name) && name.length >= 1 && name.length <= 100;
  return printable && name.trim() === name
    ? []
    : ['The name is not 1 to 100 printable characters without spaces at its beginning and end.'];
}

function scopeMistakes(scopes: readonly string[]): string[] {
  const known: readonly string[] = knownScopes;
  const unknown = scopes.filter((scope) => !known.includes(scope));
  return [
    ...(scopes.length === 0 ? ['There is no scope.'] : []),
    ...unknown.map((scope) => `The scope ${JSON.stringify(scope)} is none of ${known.join(', ')}.`),
    ...(new Set(scopes).size < scopes.length ? ['A scope is named twice.'] : []),
  ];
}

function uriMistakes(environment: Environment, uris: readonly string[]): string[] {
  const rules = { allowHttpLoopback: environment === 'test' };
  const about = (uri: string) => `Redirect URI ${JSON.stringify(uri.slice(0, 200))} (${environment})`;
  return [
    ...uris.flatMap((uri) => {
      const mistake =
        uri.length > longestUri
          ? `It is longer than ${longestUri} characters.`
          : registrationMistake(uri, rules);
      return mistake === undefined ? [] : [`${about(uri)}: ${mistake}`];
    }),
    ...(uris.length > mostRedirectUris
      ? [`There are more than ${mostRedirectUris} redirect URIs for ${environment}.`]
      : []),
    ...uris.filter((uri, index) => uris.indexOf(uri) < index).map((uri) => `${about(uri)} is named twice.`),
  ];
}

function contactMistakes({ name, email, phone }: Contact): string[] {
  if (name === '' && email === '' && phone === '') return [];
  const valid = /^[^\s@]{1,64}@[^\s@]{1,190}$/.test(email);
  return [
    ...(valid ? [] : ['A contact has no valid e-mail address.']),
    ...(unprintable.test(name + phone)
      ? ["A contact's name or telephone number holds a character that cannot be shown."]
      : []),
    ...(name.length > 200 || phone.length > 50 ? ["A contact's name or telephone number is too long."] : []),
  ];
}

function texts(dossier: Dossier): Readonly<Record<string, string>> {
  return {
    'user journey': dossier.userJourney,
    'logout requirements': dossier.logoutRequirements,
    'unlinking requirements': dossier.unlinkingRequirements,
    'retention requirements': dossier.retentionRequirements,
  };
}

/** A sentence for each prerequisite (specification §1) that the dossier lacks. */
export function dossierGaps(dossier: Dossier): string[] {
  return [
    ...(dossier.technicalContact.email === '' ? ['The technical contact is missing.'] : []),
    ...(dossier.credentialContacts.length === 0
      ? ['A contact for credential handover and rotation is missing.']
      : []),
    ...Object.entries(texts(dossier)).flatMap(([what, value]) =>
      value.trim() === '' ? [`The ${what} ${what.endsWith('s') ? 'are' : 'is'} missing.`] : [],
    ),
  ];
}
