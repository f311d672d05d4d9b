// A client as people read it: a table row among others, or the whole dossier.
import type { Client, Contact, Dossier } from '@course-exchange/proto/operator/v1/client';
import { type ClientSecret, SecretState } from '@course-exchange/proto/operator/v1/secret';
import { approvalWord, environmentWord } from '../dossier/states.ts';
import type { Paint } from '../frame/terminal.ts';
import { dateOf } from './plain.ts';
import { type Column, fields, table } from './tables.ts';
import { fromNow, localTime } from './times.ts';

const columns: readonly Column<Client>[] = [
  { heading: 'CLIENT', show: ({ dossier }) => ({ words: dossier?.clientId ?? '', ink: 'bold' }) },
  { heading: 'NAME', show: ({ dossier }) => dossier?.name ?? '' },
  { heading: 'STATE', show: ({ approvalState }) => approvalWord(approvalState) ?? '–' },
  {
    heading: 'ACTIVE',
    show: ({ active }) => (active ? { words: 'yes', ink: 'green' } : { words: 'no', ink: 'dim' }),
  },
  { heading: 'SCOPES', show: ({ dossier }) => dossier?.scopes.join(' ') ?? '' },
  { heading: 'SECRETS', show: ({ secrets }) => String(secrets.filter(opens).length), right: true },
  { heading: 'LOOK AT', show: ({ warnings }) => ({ words: warnings.join(' '), ink: 'yellow' }) },
];

function opens({ state }: ClientSecret): boolean {
  return state === SecretState.VALID || state === SecretState.NEAR_EXPIRY;
}

export function clientTable(clients: readonly Client[], paint: Paint): string {
  return table(clients, columns, paint, 'No client matches.');
}

export function clientText(client: Client, paint: Paint): string {
  const { approvalState, approvals, active, version, changedAt, dossierGaps, warnings } = client;
  const history = approvals.map(
    ({ state, by, at, note }) =>
      `${approvalWord(state) ?? '–'}  ${localTime(dateOf(at))}  ${by}${note ? `  ${note}` : ''}`,
  );
  return fields(
    [
      ...(client.dossier ? dossierEntries(client.dossier) : []),
      ['Active', active ? 'yes' : 'no'],
      ['State', approvalWord(approvalState) ?? '–'],
      ['Approvals', history],
      ['Version', `${version}, ${localTime(dateOf(changedAt))}`],
      ['Missing', dossierGaps.length > 0 ? dossierGaps : undefined],
      ['Look at', warnings.length > 0 ? warnings : undefined],
    ],
    paint,
  );
}

function dossierEntries(dossier: Dossier): (readonly [string, string | readonly string[]])[] {
  const uris = dossier.environments.flatMap(({ environment, redirectUris }) =>
    redirectUris.map((uri) => `${environmentWord(environment) ?? 'here'}  ${uri}`),
  );
  return [
    ['Client', dossier.clientId],
    ['Name', dossier.name || '–'],
    ['Technical contact', dossier.technicalContact ? contactWords(dossier.technicalContact) : '–'],
    ['Credential contacts', dossier.credentialContacts.map(contactWords)],
    ['Redirect URIs', uris],
    ['Scopes', dossier.scopes.join(' ')],
    ['User journey', dossier.userJourney || '–'],
    ['Logout', dossier.logoutRequirements || '–'],
    ['Unlinking', dossier.unlinkingRequirements || '–'],
    ['Retention', dossier.retentionRequirements || '–'],
  ];
}

function contactWords({ name, email, phone }: Contact): string {
  return [name, `<${email}>`, phone].filter(Boolean).join(' ');
}

const secretWords: Readonly<Record<number, string>> = {
  [SecretState.VALID]: 'valid',
  [SecretState.NEAR_EXPIRY]: 'near expiry',
  [SecretState.EXPIRED]: 'expired',
  [SecretState.RETIRED]: 'retired',
};

export function secretTable(secrets: readonly ClientSecret[], now: Date, paint: Paint): string {
  const columnsOfSecrets: readonly Column<ClientSecret>[] = [
    { heading: 'SECRET', show: ({ secretId }) => ({ words: secretId, ink: 'bold' }) },
    { heading: 'STATE', show: ({ state }) => secretWords[state] ?? '–' },
    { heading: 'LAST USED', show: ({ lastUsedAt }) => withDistance(dateOf(lastUsedAt), now, 'never seen') },
    { heading: 'EXPIRES', show: ({ expiresAt }) => withDistance(dateOf(expiresAt), now, 'never') },
    { heading: 'MADE', show: ({ createdAt }) => localTime(dateOf(createdAt)) },
  ];
  return table(secrets, columnsOfSecrets, paint, 'The client has no secret.');
}

function withDistance(time: Date | undefined, now: Date, absent: string): string {
  return time === undefined ? absent : `${localTime(time)} (${fromNow(time, now)})`;
}
