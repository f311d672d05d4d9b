// A registration in lines: each contact in one, `Ann Example <ann@partner.example> +49 30 1`, and what is printed below
// the changes, for proofreading.
import { create } from '@bufbuild/protobuf';
import {
  type Contact,
  ContactSchema,
  type EditClientResponse,
  type RegisterClientResponse,
} from '@course-exchange/proto/operator/v1/client';
import { usageError } from '../output/errors.ts';
import { sanitize } from '../output/terminal.ts';
import { redirectUriLines } from './redirect-uris.ts';

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
  const gaps = client?.registrationGaps ?? [];
  return gaps.length > 0 ? `Missing for approval:\n${gaps.map((gap) => `  - ${gap}\n`).join('')}` : '';
}
