// Contacts and redirect URIs of a registration as the command line names them, `Ann Example <ann@partner.example> +49 30 1`
// and `test=URI`, and as they are printed for proofreading.
import { create } from '@bufbuild/protobuf';
import {
  type Client,
  type ClientRegistration,
  type Contact,
  ContactSchema,
  type EditClientResponse,
  type Environment,
  type EnvironmentRegistration,
  EnvironmentRegistrationSchema,
  type RegisterClientResponse,
} from '@course-exchange/proto/operator/v1/client';
import { usageError } from '../output/errors.ts';
import { sanitize } from '../output/terminal.ts';
import { environmentName, environmentNames, environments } from './registration-file.ts';

/** Each URI is `test=URI`, `production=URI`, or a plain one for this installation's environment. */
export interface RedirectUriOptions {
  readonly redirectUri?: readonly string[];
  readonly addRedirectUri?: readonly string[];
  readonly removeRedirectUri?: readonly string[];
}

/** A list or URI without an environment is for `own`. Throws a usage error. */
export function withRedirectUris(
  lists: readonly EnvironmentRegistration[],
  own: Environment,
  options: RedirectUriOptions,
): EnvironmentRegistration[] {
  return environmentNames.flatMap((name) => {
    const environment = environments[name];
    const registered = lists.filter((list) => (list.environment || own) === environment);
    const given = (values: readonly string[] = []) =>
      values.flatMap((value) => {
        const [, named = environmentName(own), uri = value] = /^(test|production)=(.*)$/.exec(value) ?? [];
        return named === name ? [uri] : [];
      });
    const edit = {
      registered: registered.flatMap(({ redirectUris }) => redirectUris),
      replacing: given(options.redirectUri),
      adding: given(options.addRedirectUri),
      removing: given(options.removeRedirectUri),
    };
    if (edit.replacing.length + edit.adding.length + edit.removing.length === 0)
      return registered.map((list) => ({ ...list, environment }));
    return [create(EnvironmentRegistrationSchema, { environment, redirectUris: editedList(name, edit) })];
  });
}

type ListEdit = Readonly<Record<'registered' | 'replacing' | 'adding' | 'removing', readonly string[]>>;

function editedList(name: string, { registered, replacing, adding, removing }: ListEdit): string[] {
  if (replacing.length > 0) {
    if (adding.length + removing.length === 0) return [...replacing];
    throw usageError(
      `--redirect-uri replaces the whole list for ${name}: it excludes --add-redirect-uri and --remove-redirect-uri for that environment.`,
      'Name every URI with --redirect-uri, or use only --add-redirect-uri and --remove-redirect-uri.',
    );
  }
  const known = adding.find((uri) => registered.includes(uri));
  if (known !== undefined) throw usageError(`"${known}" is already a redirect URI for ${name}.`);
  const missing = removing.find((uri) => !registered.includes(uri));
  if (missing !== undefined) {
    const all = registered.length > 0 ? registered.join(', ') : 'none';
    throw usageError(`"${missing}" is not a redirect URI for ${name}.`, `Registered for ${name}: ${all}.`);
  }
  return [...registered.filter((uri) => !removing.includes(uri)), ...adding];
}

export function redirectUriLines({ environments: lists }: ClientRegistration): string[] {
  const named = lists.map((list) => ({ ...list, name: environmentName(list.environment) ?? 'here' }));
  const width = Math.max(0, ...named.map(({ name }) => name.length));
  return named.flatMap(({ name, redirectUris }) =>
    redirectUris.map((uri) => `${name.padEnd(width)}  ${uri}`),
  );
}

export function parseContact(text: string): Contact {
  const [, name = '', email = '', phone = ''] = /^\s*([^<>]*?)\s*<([^<>\s]+)>\s*(.*?)\s*$/.exec(text) ?? [];
  if (email) return create(ContactSchema, { name, email, phone });
  throw usageError(
    `'${text}' is not a contact.`,
    'Write "Ann Example <ann@partner.example>"; a telephone number may follow.',
  );
}

export function contactText({ name, email, phone }: Contact): string {
  return [name, `<${email}>`, phone].filter(Boolean).join(' ');
}

/** Contacts, which changes show as keyed hashes, and all redirect URIs. */
export function proofText(
  { client, changes }: EditClientResponse | RegisterClientResponse,
  dryRun: boolean,
): string {
  const fields = changes.flatMap((change) => change.fields.map(({ field }) => field));
  const text = (pattern: RegExp, head: string, lines: readonly string[]) =>
    fields.some((field) => pattern.test(field))
      ? `${head}:\n${lines.map((line) => `  ${sanitize(line)}\n`).join('')}`
      : '';
  if (!client?.registration) return '';
  const { technicalContact, credentialContacts } = client.registration;
  const contacts = credentialContacts.map((contact) => `credential  ${contactText(contact)}`);
  if (technicalContact) contacts.unshift(`technical   ${contactText(technicalContact)}`);
  const uris = redirectUriLines(client.registration);
  return [
    dryRun ? text(/_contacts?$/, 'Contacts would be', contacts) : '',
    text(/^redirect_uris\./, `All redirect URIs ${dryRun ? 'would be' : 'are now'}`, uris),
  ].join('');
}

export function gapsText({ client }: RegisterClientResponse): string {
  return sentences('Missing for approval', client?.registrationGaps);
}

export function warningsText({ client }: { readonly client?: Client | undefined }): string {
  return sentences('Attention', client?.warnings);
}

function sentences(title: string, all: readonly string[] = []): string {
  return all.length > 0 ? `${title}:\n${all.map((one) => `  - ${one}\n`).join('')}` : '';
}
