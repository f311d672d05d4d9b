// client/ is the commands about partners' clients and their registrations. Their secrets are in secret/.

// `client`: partners' clients, registered as inactive drafts, approved step by step and activated.
import { Option } from '@commander-js/extra-typings';
import {
  ApprovalState,
  type Client,
  type ClientRegistration,
  ClientService,
  Environment,
} from '@course-exchange/proto/operator/v1/client';
import { type CommandContext, newCommand, newGroup, withAction } from '../cli/command.ts';
import { given, noteOption, versionOption } from '../cli/options.ts';
import { measureVolume } from '../designs/volume.ts';
import { CliError, usageError } from '../output/errors.ts';
import { changeResult } from '../output/result.ts';
import { type Columns, fields, localTime, table } from '../output/table.ts';
import { clientArgument, isSecretValid, secretCommand, secretTable } from '../secret/commands.ts';
import { applyCommand, exportCommand, planCommand } from './apply.ts';
import { conductCommand } from './conduct.ts';
import { editCommand, registerCommand } from './register.ts';
import { approvalStateName, approvalStateNames, approvalStates } from './registration-file.ts';
import { contactText, redirectUriLines, warningsText } from './registration-lines.ts';

export function clientCommand() {
  return newGroup('client', "Partners' clients: registration, approval, secrets", [
    registerCommand(),
    listCommand(),
    showCommand(),
    conductCommand(),
    editCommand(),
    approveCommand(),
    activateCommand(),
    deactivateCommand(),
    secretCommand(),
    planCommand(),
    applyCommand(),
    exportCommand(),
  ]);
}

function listCommand() {
  const command = newCommand('list', {
    about: 'List clients, and what needs attention',
    examples: {
      'Every client': 'partnerctl client list',
      'Identifiers of active clients, for a script':
        "partnerctl client list --active --json | jq -r '.clients[].registration.clientId'",
    },
  })
    .option('--active', 'Only active clients')
    .addOption(new Option('--inactive', 'Only inactive clients').conflicts('active'))
    .addOption(new Option('--state <state>', 'Only clients in this state').choices(approvalStateNames));
  return withAction(command, async ({ services }, { active, inactive, state }) => {
    const filter = given({
      active: active || inactive ? active === true : undefined,
      approvalState: state && approvalStates[state],
    });
    const { clients } = await services.identity(ClientService).listClients(filter);
    return { json: { clients }, text: table(clients, columns, 'No clients.') };
  });
}

function showCommand() {
  const command = newCommand('show', {
    about: 'Show a client: registration, approvals, secrets without their values',
    examples: { 'The whole client': 'partnerctl client show acme' },
  }).argument(...clientArgument);
  return withAction(command, async ({ services, now }, clientId) => {
    const { client } = await services.identity(ClientService).getClient({ clientId });
    if (!client) throw new CliError('missing', `There is no client ${clientId}.`);
    return { json: { client }, text: `${clientText(client)}\n${secretTable(client.secrets, now())}` };
  });
}

const nextState: Readonly<Record<number, ApprovalState>> = {
  [ApprovalState.DRAFT]: ApprovalState.TEST,
  [ApprovalState.TEST]: ApprovalState.APPROVED,
};

function approveCommand() {
  const command = newCommand('approve', {
    about: 'Move a client one step up: draft, test, approved',
    details:
      'A step up needs a complete registration. --to names a state, also a lower one. Approvals stay on record, with actor, time and note. In production a step up needs --expected-version, the version that you have seen with `client show`, and the step to approved also --volume-confirmed: the volume of all designs is measured again and logged.',
    examples: {
      'The next step': 'partnerctl client approve acme --note "Agreement 2026-11"',
      'In production, after a look at `client show` and `designs volume`':
        'partnerctl client approve acme --expected-version 2 --volume-confirmed',
      'Back to draft': 'partnerctl client approve acme --to draft',
    },
    takes: ['--dry-run'],
  })
    .argument(...clientArgument)
    .addOption(new Option('--to <state>', 'The state to move to').choices(approvalStateNames))
    .addOption(noteOption)
    .option('--volume-confirmed', 'Confirm that the data volume fits')
    .addOption(versionOption);
  return withAction(
    command,
    async (context, clientId, { to, note = '', volumeConfirmed, expectedVersion }) => {
      const { dryRun, services } = context;
      const { client } = await services.identity(ClientService).getClient({ clientId });
      const { approvalState = 0, version: present = 0 } = client ?? {};
      const state = to === undefined ? nextState[approvalState] : approvalStates[to];
      if (state === undefined) {
        const advice = 'There is no higher state.';
        throw new CliError('refused', `${clientId} is already approved.`, { advice });
      }
      if (state > approvalState && expectedVersion === undefined) await refuseInProduction(context, clientId);
      const measured = volumeConfirmed && state === ApprovalState.APPROVED;
      const request = {
        ...{ clientId, state, note, expectedVersion: expectedVersion ?? present, dryRun },
        ...given({ confirmedVolume: measured ? await measureVolume(context) : undefined }),
      };
      const response = await services.identity(ClientService).setApprovalState(request);
      const { version } = response.client ?? {};
      const now = dryRun
        ? ''
        : `${clientId} is in the state ${approvalStateName(state)}, version ${version}.\n`;
      return changeResult(context, response, now + warningsText(response));
    },
  );
}

function activateCommand() {
  const command = newCommand('activate', {
    about: 'Accept a client from its next request on',
    details: 'In production it needs --expected-version, as `client show` and `client approve` print it.',
    examples: {
      'After its approval': 'partnerctl client activate acme',
      'In production': 'partnerctl client activate acme --expected-version 3',
    },
    takes: ['--dry-run'],
  })
    .argument(...clientArgument)
    .addOption(versionOption);
  return withAction(command, async (context, clientId, { expectedVersion }) => {
    if (expectedVersion === undefined) await refuseInProduction(context, clientId);
    const clients = context.services.identity(ClientService);
    const seen = expectedVersion ?? (await clients.getClient({ clientId })).client?.version ?? 0;
    const request = { clientId, expectedVersion: seen, dryRun: context.dryRun };
    return changeResult(context, await clients.activateClient(request));
  });
}

/** Elsewhere a command without a version is of the one that it has just read itself. */
async function refuseInProduction({ services }: CommandContext, clientId: string): Promise<void> {
  const { environment } = await services.identity(ClientService).describeInstallation({});
  if (environment !== Environment.PRODUCTION) return;
  throw usageError(
    'In production, name the version that you have seen.',
    `Look at partnerctl client show ${clientId}, and give its version with --expected-version.`,
  );
}

function deactivateCommand() {
  const command = newCommand('deactivate', {
    about: 'Give a client no more tokens',
    details:
      'Its access tokens stay valid for up to 15 minutes: nothing can revoke them. Its users stay connected: after `activate` it can continue, unless it has discarded its tokens meanwhile.',
    examples: {
      'What would change': 'partnerctl client deactivate acme --dry-run',
      'In a script': 'partnerctl client deactivate acme --yes',
    },
    takes: ['--dry-run', '--yes'],
  }).argument(...clientArgument);
  return withAction(command, async (context, clientId) => {
    await context.confirm(
      `${clientId} gets no tokens from now on; its access tokens stay valid for up to 15 minutes.`,
    );
    const request = { clientId, dryRun: context.dryRun };
    return changeResult(context, await context.services.identity(ClientService).deactivateClient(request));
  });
}

const columns: Columns<Client> = {
  CLIENT: ({ registration }) => ({ text: registration?.clientId ?? '', color: 'bold' }),
  NAME: ({ registration }) => registration?.name ?? '',
  STATE: ({ approvalState }) => approvalStateName(approvalState),
  ACTIVE: ({ active }) => (active ? { text: 'yes', color: 'green' } : { text: 'no', color: 'dim' }),
  SCOPES: ({ registration }) => registration?.scopes.join(' ') ?? '',
  SECRETS: ({ secrets }) => secrets.filter(isSecretValid).length,
  ATTENTION: ({ warnings }) => ({ text: warnings.join(' '), color: 'yellow' }),
};

function clientText(client: Client): string {
  const { registration, approvalState, approvals, active, version, changedAt, ...more } = client;
  const history = approvals.map(({ state, by, at, note }) =>
    [approvalStateName(state) ?? '–', localTime(at), by, note].filter(Boolean).join('  '),
  );
  return fields({
    ...(registration && registrationFields(registration)),
    ...(more.contactsWithheld && { 'Technical contact': withheld, 'Credential contacts': withheld }),
    Active: active ? 'yes' : 'no',
    State: approvalStateName(approvalState) ?? '–',
    Approvals: history,
    Version: `${version}, ${localTime(changedAt)}`,
    Missing: more.registrationGaps.length > 0 ? more.registrationGaps : undefined,
    Attention: more.warnings.length > 0 ? more.warnings : undefined,
  });
}

const withheld = 'not shown to auditors';

function registrationFields(registration: ClientRegistration) {
  const { technicalContact } = registration;
  return {
    Client: registration.clientId,
    Name: registration.name,
    'Technical contact': technicalContact ? contactText(technicalContact) : '',
    'Credential contacts': registration.credentialContacts.map(contactText),
    'Redirect URIs': redirectUriLines(registration),
    Scopes: registration.scopes.join(' '),
    'User journey': registration.userJourney,
    Logout: registration.logoutRequirements,
    Unlinking: registration.unlinkingRequirements,
    Retention: registration.retentionRequirements,
  };
}
