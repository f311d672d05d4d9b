// Printed below the changes of a registration, for proofreading.
import type {
  ClientRegistration,
  EditClientResponse,
  RegisterClientResponse,
} from '@course-exchange/proto/operator/v1/client';
import { sanitize } from '../cli/terminal.ts';
import { contactText } from './contacts.ts';
import { redirectUriLines } from './redirect-uris.ts';

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
  const uris = redirectUriLines(client.registration);
  return [
    dryRun ? text(/_contacts?$/, 'Contacts would be', contactLines(client.registration)) : '',
    text(/^redirect_uris\./, `All redirect URIs ${dryRun ? 'would be' : 'are now'}`, uris),
  ].join('');
}

export function gapsText({ client }: RegisterClientResponse): string {
  const gaps = client?.registrationGaps ?? [];
  return gaps.length > 0 ? `Missing for approval:\n${gaps.map((gap) => `  - ${gap}\n`).join('')}` : '';
}

function contactLines({ technicalContact, credentialContacts }: ClientRegistration): string[] {
  return [
    ...(technicalContact ? [`technical   ${contactText(technicalContact)}`] : []),
    ...credentialContacts.map((contact) => `credential  ${contactText(contact)}`),
  ];
}
