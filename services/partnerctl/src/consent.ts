// `consent`: an operator lists and withdraws what users granted in the browser.
import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  type Consent,
  ConsentService,
  type ListConsentsRequestSchema,
} from '@course-exchange/proto/operator/v1/consent';
import { type CommandContext, newCommand, newGroup, withAction } from './cli/command.ts';
import { given } from './cli/options.ts';
import { pagesOf } from './connection/services.ts';
import { usageError } from './output/errors.ts';
import { changeResult } from './output/result.ts';
import { type Columns, table } from './output/table.ts';
import { userNamed } from './user/commands.ts';

export function consentCommand() {
  return newGroup('consent', 'What users granted to clients', [listCommand(), withdrawCommand()]);
}

const columns: Columns<Consent> = {
  CONSENT: ({ consentId }) => consentId,
  USER: ({ sub }) => sub,
  CLIENT: ({ clientId }) => clientId,
  SCOPES: ({ scopes }) => scopes.join(' '),
  SINCE: ({ grantedAt }) => grantedAt,
  WITHDRAWN: ({ withdrawnAt }) => withdrawnAt,
};

const userOption = ['--user <user>', 'The user: sub or e-mail address'] as const;
const clientOption = ['--client <client-id>', 'The client'] as const;

function listCommand() {
  const command = newCommand('list', {
    about: 'List consents of a user, of a client, or of both',
    examples: {
      'Which clients a user is connected to': 'partnerctl consent list --user ann@example.com',
      'Every user of a client, former ones too': 'partnerctl consent list --client acme --all --json',
    },
  })
    .option(...userOption)
    .option(...clientOption)
    .option('--all', 'Include withdrawn consents');
  return withAction(command, async (context, { user, client, all }) => {
    if (user === undefined && client === undefined) {
      throw usageError('Neither a user nor a client is given.', 'Use --user, --client or both.');
    }
    const filter = {
      ...given({ user: user === undefined ? undefined : userNamed(user) }),
      clientId: client ?? '',
      includeWithdrawn: all === true,
    };
    const pages = await Array.fromAsync(consentPages(context, filter));
    const consents = pages.flatMap((page) => page.consents);
    return { json: { consents }, text: table(consents, columns, 'No consents.') };
  });
}

/** Newest first, at most 1,000 at a time. */
export function consentPages(
  { services }: Pick<CommandContext, 'services'>,
  filter: MessageInitShape<typeof ListConsentsRequestSchema>,
) {
  return pagesOf((pageToken) =>
    services.identity(ConsentService).listConsents({ ...filter, pageSize: 1000, pageToken }),
  );
}

function withdrawCommand() {
  const command = newCommand('withdraw', {
    about: "Withdraw a user's consent for a client",
    details:
      'Takes effect at the next refresh or code exchange, even if the user consents again later. Access tokens stay valid for up to 15 minutes: nothing can revoke them.',
    examples: {
      'When a user asks for it': 'partnerctl consent withdraw --user ann@example.com --client acme',
    },
    takes: ['--dry-run', '--yes'],
  })
    .option(...userOption)
    .option(...clientOption);
  return withAction(command, async (context, { user, client }) => {
    if (user === undefined || client === undefined) {
      throw usageError('A consent belongs to a user and a client.', 'Use --user and --client.');
    }
    await context.confirm(`${user} will have to connect ${client} again.`);
    const { dryRun, services } = context;
    const request = { user: userNamed(user), clientId: client, dryRun };
    const response = await services.identity(ConsentService).withdrawConsent(request);
    return changeResult(context, response, dryRun ? '' : 'It takes effect at the next refresh.\n');
  });
}
