// Contacts in one line: `Ann Example <ann@partner.example> +49 30 1`.
import { create } from '@bufbuild/protobuf';
import { type Contact, ContactSchema } from '@course-exchange/proto/operator/v1/client';
import { usageError } from '../cli/errors.ts';

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
