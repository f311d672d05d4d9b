// Contacts of a partner as an operator writes and reads them: `Ann Example <ann@partner.example> +49 30 1`.
import { create } from '@bufbuild/protobuf';
import {
  type Contact,
  ContactSchema,
  type EditClientResponse,
  type RegisterClientResponse,
} from '@course-exchange/proto/operator/v1/client';
import { usageError } from '../cli/errors.ts';
import { sanitize } from '../cli/terminal.ts';

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

/** To proofread what would be registered: the changes name contacts by keyed hashes, as the audit log does. */
export function contactsText({ client, changes }: EditClientResponse | RegisterClientResponse): string {
  const fields = changes.flatMap((change) => change.fields.map(({ field }) => field));
  if (
    !client?.registration ||
    !fields.some((field) => field.endsWith('_contact') || field.endsWith('_contacts'))
  )
    return '';
  const { technicalContact, credentialContacts } = client.registration;
  const lines = [
    ...(technicalContact ? [`technical   ${contactText(technicalContact)}`] : []),
    ...credentialContacts.map((contact) => `credential  ${contactText(contact)}`),
  ];
  return `Contacts would be:\n${lines.map((line) => `  ${sanitize(line)}\n`).join('')}`;
}
