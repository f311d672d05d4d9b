// The noun `consent`: what users agreed to with clients, and its withdrawal.
import { type Consent, ConsentSchema, ConsentService } from '@course-exchange/proto/operator/v1/consent';
import type { Call } from '../../frame/call.ts';
import { command, type Noun } from '../../frame/command.ts';
import { text, toggle } from '../../frame/options.ts';
import { usageProblem } from '../../frame/problem.ts';
import { changesText, plainChanges } from '../../output/changes.ts';
import { dateOf, plain } from '../../output/plain.ts';
import { type Column, table } from '../../output/tables.ts';
import { localTime } from '../../output/times.ts';
import { tokensEnd } from '../client/written.ts';
import { userName } from '../user/user-name.ts';

const whose = {
  user: text('<user>', 'The user: sub or e-mail address'),
  client: text('<client-id>', 'The client'),
};

const columns: readonly Column<Consent>[] = [
  { heading: 'CONSENT', show: ({ consentId }) => consentId },
  { heading: 'USER', show: ({ sub }) => sub },
  { heading: 'CLIENT', show: ({ clientId }) => clientId },
  { heading: 'SCOPES', show: ({ scopes }) => scopes.join(' ') },
  { heading: 'SINCE', show: ({ grantedAt }) => localTime(dateOf(grantedAt)) },
  { heading: 'WITHDRAWN', show: ({ withdrawnAt }) => localTime(dateOf(withdrawnAt)) },
];

const consentList = command({
  name: 'list',
  about: 'List consents of a user, of a client, or of both',
  operands: {},
  options: { ...whose, all: toggle('Withdrawn ones too') },
  examples: [
    { does: 'With whom a user is connected', line: 'partnerctl consent list --user ann@example.com' },
    {
      does: 'Every user of a client, also former ones',
      line: 'partnerctl consent list --client acme --all --json',
    },
  ],
  run: async (call, _, { user, client, all }) => {
    if (user === undefined && client === undefined) {
      throw usageProblem('Nobody is named.', 'Say --user, --client or both.');
    }
    const consents = await everyPage(call, user, client, all);
    return {
      json: { consents: consents.map((consent) => plain(ConsentSchema, consent)) },
      text: table(consents, columns, call.terminal.paint, 'There is no such consent.'),
    };
  },
});

async function everyPage(
  call: Call,
  user: string | undefined,
  client: string | undefined,
  includeWithdrawn: boolean,
): Promise<readonly Consent[]> {
  const named = { ...(user === undefined ? {} : { user: userName(user) }), clientId: client ?? '' };
  const consents: Consent[] = [];
  let pageToken = '';
  do {
    const page = await call.services
      .identity(ConsentService)
      .listConsents({ ...named, includeWithdrawn, pageSize: 1000, pageToken });
    consents.push(...page.consents);
    pageToken = page.nextPageToken;
  } while (pageToken);
  return consents;
}

const consentWithdraw = command({
  name: 'withdraw',
  about: 'Withdraw the consent of a user with a client',
  details:
    'Takes effect at the next refresh or code exchange, also when the user agrees anew later. Access tokens live out their 15 minutes: nothing can call them back.',
  operands: {},
  options: whose,
  writes: true,
  asks: true,
  examples: [
    {
      does: 'When a user asks for it',
      line: 'partnerctl consent withdraw --user ann@example.com --client acme',
    },
  ],
  run: async (call, _, { user, client }) => {
    if (user === undefined || client === undefined) {
      throw usageProblem('A consent lies between a user and a client.', 'Say --user and --client.');
    }
    await call.confirm(`${user} must connect ${client} anew.`);
    const answer = await call.services
      .identity(ConsentService)
      .withdrawConsent({ user: userName(user), clientId: client, dryRun: call.dryRun });
    return {
      json: {
        dryRun: call.dryRun,
        consent: answer.consent ? plain(ConsentSchema, answer.consent) : null,
        changes: plainChanges(answer.changes),
        accessTokensEndAt: dateOf(answer.accessTokensEndAt)?.toISOString() ?? null,
      },
      text:
        changesText(answer.changes, call.dryRun, call.terminal.paint) +
        (call.dryRun ? '' : 'It takes effect at the next refresh.\n') +
        tokensEnd(answer.accessTokensEndAt, call),
    };
  },
});

export const consentNoun: Noun = {
  name: 'consent',
  about: 'What users agreed to with clients',
  examples: [
    { does: 'With whom a user is connected', line: 'partnerctl consent list --user ann@example.com' },
    { does: 'End one connection', line: 'partnerctl consent withdraw --user ann@example.com --client acme' },
  ],
  commands: [consentList, consentWithdraw],
};
