// A partner's registration (specification §1), its problems and its gaps.
import { apiAudience, isClientId } from '@course-exchange/rules/access-token';
import { isEmail } from '@course-exchange/rules/email';
import type { ClientId } from '../ids.ts';
import { knownScopes, type Scope } from './scope.ts';

export const environments = ['test', 'production'] as const;
export type Environment = (typeof environments)[number];

export interface Contact {
  readonly name: string;
  readonly email: string;
  readonly phone: string;
}

export interface ClientRegistration {
  readonly clientId: ClientId;
  readonly name: string;
  readonly technicalContact: Contact;
  /** They receive secrets and are called for a rotation. */
  readonly credentialContacts: readonly Contact[];
  /** An installation uses those of its environment (R28.1) and keeps the others. */
  readonly redirectUris: Readonly<Record<Environment, readonly string[]>>;
  readonly scopes: readonly Scope[];
  readonly userJourney: string;
  readonly logoutRequirements: string;
  readonly unlinkingRequirements: string;
  readonly retentionRequirements: string;
}

const longestText = 4_000;
const maxRedirectUris = 50;
const longestUri = 2_000;

/** `before`: what is registered now; its texts may stay as they are. */
export function registrationProblems(
  registration: ClientRegistration,
  own: Environment,
  before?: ClientRegistration,
): string[] {
  const { clientId, name, scopes, redirectUris } = registration;
  const isPrintable = isShown(name) && name.length >= 1 && name.length <= 100;
  const registered = before && contactsOf(before).map(contactLine);
  const kept: Readonly<Record<string, string>> = before ? texts(before) : {};
  const problems = [
    !isClientId(clientId) && 'The client id is not 1 to 64 characters of A–Z a–z 0–9 _ -.',
    clientId === apiAudience && `The client id "${apiAudience}" is the name of the resource API.`,
    !(isPrintable && name.trim() === name) &&
      name !== before?.name &&
      'The name is not 1 to 100 printable characters without spaces at its beginning and end.',
    ...scopeProblems(scopes),
    redirectUris[own].length === 0 && `The environment ${own} needs at least one redirect URI.`,
    ...environments.flatMap((environment) => uriProblems(environment, redirectUris[environment])),
    ...contactsOf(registration).flatMap((contact) => contactProblems(contact, registered)),
    ...Object.entries(texts(registration)).flatMap(([what, value]) => [
      value.length > longestText && `More than ${longestText} characters describe the ${what}.`,
      value !== kept[what] && !isShownText(value) && `The ${what}: a character cannot be shown.`,
    ]),
  ];
  return problems.filter((problem) => problem !== false);
}

/**
 * Control, format, private-use and unassigned characters, lone surrogates, separators but the space, and what else has no
 * form of its own: also the joiners of Persian, Indic scripts and emoji, with which a name can imitate another.
 */
const unprintable = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u;

export function isShown(text: string): boolean {
  return !unprintable.test(text.replaceAll(' ', ''));
}

/** As `isShown`, over several lines. */
export function isShownText(text: string): boolean {
  return isShown(text.replace(/[\n\r\t]/g, ''));
}

type Problems = readonly (string | false)[];

function scopeProblems(scopes: readonly string[]): Problems {
  const known: readonly string[] = knownScopes;
  const unknown = scopes.filter((scope) => !known.includes(scope));
  return [
    scopes.length === 0 && 'There is no scope.',
    ...unknown.map((scope) => `The scope ${JSON.stringify(scope)} is none of ${known.join(', ')}.`),
    new Set(scopes).size < scopes.length && 'A scope is named twice.',
  ];
}

function uriProblems(environment: Environment, uris: readonly string[]): Problems {
  const about = (uri: string) => `Redirect URI ${JSON.stringify(uri.slice(0, 200))} (${environment})`;
  const tooMany = `There are more than ${maxRedirectUris} redirect URIs for ${environment}.`;
  return [
    ...uris.map((uri) => {
      const problem = redirectUriProblem(uri, environment);
      return problem !== undefined && `${about(uri)}: ${problem}`;
    }),
    uris.length > maxRedirectUris && tooMany,
    ...uris.filter((uri, index) => uris.indexOf(uri) < index).map((uri) => `${about(uri)} is named twice.`),
  ];
}

const loopbackHosts: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

const shape = /^(https?):\/\/([^/@]+)(\/.*)?$/;
const dotSegment = /(^|\/)(\.|%2e){1,2}(\/|$)/i;

/** One sentence. A registered URI is kept and compared as written. */
export function redirectUriProblem(uri: string, environment: Environment): string | undefined {
  if (uri.length > longestUri) return `It is longer than ${longestUri} characters.`;
  if (/[^\x21-\x7e]/.test(uri)) return 'It holds a space, a control character or a non-ASCII character.';
  if (/[?#]/.test(uri)) return 'It holds a query or a fragment.';
  if (uri.includes('*')) return 'It holds a wildcard.';
  if (uri.includes('\\')) return 'It holds a backslash.';
  const [, scheme, authority, path = ''] = shape.exec(uri) ?? [];
  if (scheme === undefined || authority === undefined)
    return 'It is not https://host/path without a user name.';
  if (dotSegment.test(path)) return 'Its path holds a dot segment.';
  if (!URL.canParse(uri)) return 'Its host or port is not valid.';
  if (scheme === 'https') return undefined;
  const loopback = loopbackHosts.includes(authority.replace(/:[0-9]*$/, '').toLowerCase());
  return environment === 'test' && loopback ? undefined : 'Its scheme is not https.';
}

function contactsOf({ technicalContact, credentialContacts }: ClientRegistration): readonly Contact[] {
  return [technicalContact, ...credentialContacts];
}

function contactLine({ name, email, phone }: Contact): string {
  return [name, email, phone].join('');
}

function contactProblems(contact: Contact, registered: readonly string[] = []): Problems {
  const { name, email, phone } = contact;
  if (name === '' && email === '' && phone === '') return [];
  return [
    !isEmail(email) && 'A contact has no valid e-mail address.',
    !registered.includes(contactLine(contact)) &&
      !isShown(contactLine(contact)) &&
      "A contact's name, address or telephone number holds a character that cannot be shown.",
    (name.length > 200 || phone.length > 50) && "A contact's name or telephone number is too long.",
  ];
}

function texts(registration: ClientRegistration): Readonly<Record<string, string>> {
  return {
    'user journey': registration.userJourney,
    'logout requirements': registration.logoutRequirements,
    'unlinking requirements': registration.unlinkingRequirements,
    'retention requirements': registration.retentionRequirements,
  };
}

export const noTechnicalContact = 'The technical contact is missing.';

/** A sentence for each missing prerequisite (specification §1). */
export function registrationGaps(registration: ClientRegistration): string[] {
  return [
    ...(registration.technicalContact.email === '' ? [noTechnicalContact] : []),
    ...(registration.credentialContacts.length === 0
      ? ['A contact for credential handover and rotation is missing.']
      : []),
    ...Object.entries(texts(registration)).flatMap(([what, value]) =>
      value.trim() === '' ? [`The ${what} ${what.endsWith('s') ? 'are' : 'is'} missing.`] : [],
    ),
  ];
}
