// secret/ is the commands about clients' secrets, and how a new one is handed over.

// `client secret`: several secrets of a client overlap, so that one is replaced without a failed call.
import {
  type ClientSecret,
  SecretService,
  SecretState,
  SecretStateSchema,
} from '@course-exchange/proto/operator/v1/secret';
import { newCommand, newGroup, withAction } from '../cli/command.ts';
import { durationOption, given } from '../cli/options.ts';
import { changeResult, enumName } from '../output/result.ts';
import { type Columns, dateOf, fromNow, localTime, table } from '../output/table.ts';
import { encryptToOption, toFileOption, withHandover } from './handover.ts';

export function secretCommand() {
  const about = 'Secrets of a client, several at a time';
  return newGroup('secret', about, [addCommand(), listCommand(), retireCommand(), resumeCommand()]);
}

export const clientArgument = ['<client-id>', 'The client'] as const;
const secretArgument = ['<secret-id>', 'The secret, as `list` names it'] as const;

function addCommand() {
  const command = newCommand('add', {
    about: 'Create a further secret; the others stay valid',
    details:
      'It is shown once on a terminal, written to a new file of mode 0600 (--to-file), or encrypted to the partner (--encrypt-to). It is stored nowhere. Only --json writes it to a pipe.',
    examples: {
      'Shown once': 'partnerctl client secret add acme --expires-in 365d',
      "Encrypted to the partner's OpenPGP key, to attach to a mail":
        'partnerctl client secret add acme --encrypt-to acme.asc --to-file acme-secret.asc',
    },
    takes: ['--dry-run'],
  })
    .argument(...clientArgument)
    .addOption(durationOption('--expires-in <time>', 'Its lifetime: 30m, 12h, 14d, 2w; unlimited by default'))
    .addOption(toFileOption)
    .addOption(encryptToOption);
  return withAction(command, async (context, clientId, options) => {
    const { dryRun, services } = context;
    const request = { clientId, ...given({ expiresIn: options.expiresIn }), dryRun };
    return withHandover(context, options, () => services.identity(SecretService).addSecret(request));
  });
}

function listCommand() {
  const command = newCommand('list', {
    about: 'List the secrets of a client, each with its last use',
    details:
      'A secret that has not been used for a day may be retired. The last use shows with a delay of up to a minute.',
    examples: { 'May I retire the old one?': 'partnerctl client secret list acme' },
  }).argument(...clientArgument);
  return withAction(command, async ({ services, now }, clientId) => {
    const { secrets } = await services.identity(SecretService).listSecrets({ clientId });
    return { json: { secrets }, text: secretTable(secrets, now()) };
  });
}

function retireCommand() {
  const command = newCommand('retire', {
    about: 'End a secret from the next request on',
    details:
      'Refused for a secret that was used within 24 hours, and for the last valid one: the partner would fail. --even-if-in-use is for a compromised secret.',
    examples: {
      'After the partner has changed over': 'partnerctl client secret retire acme 5mV3rT0kQ9o',
      'A compromised secret': 'partnerctl client secret retire acme 5mV3rT0kQ9o --even-if-in-use',
    },
    takes: ['--dry-run', '--yes'],
  })
    .argument(...clientArgument)
    .argument(...secretArgument)
    .option('--even-if-in-use', "End it even if the partner's calls fail");
  return withAction(command, async (context, clientId, secretId, { evenIfInUse }) => {
    await context.confirm(`The secret ${secretId} of ${clientId} will never be valid again.`);
    const { dryRun, services } = context;
    const request = { clientId, secretId, evenIfInUse: evenIfInUse === true, dryRun };
    return changeResult(context, await services.identity(SecretService).retireSecret(request));
  });
}

function resumeCommand() {
  const command = newCommand('resume', {
    about: 'Resume a secret that a restore fence suspended',
    examples: { 'The partner says that it is theirs': 'partnerctl client secret resume acme 5mV3rT0kQ9o' },
    takes: ['--dry-run', '--yes'],
  })
    .argument(...clientArgument)
    .argument(...secretArgument);
  return withAction(command, async (context, clientId, secretId) => {
    await context.confirm(`The secret ${secretId} of ${clientId} will be valid again.`);
    const request = { clientId, secretId, dryRun: context.dryRun };
    return changeResult(context, await context.services.identity(SecretService).resumeSecret(request));
  });
}

export function isSecretValid({ state }: ClientSecret): boolean {
  return state === SecretState.VALID || state === SecretState.NEAR_EXPIRY;
}

export function secretTable(secrets: readonly ClientSecret[], now: Date): string {
  const withDistance = (time: ClientSecret['lastUsedAt']): string =>
    time === undefined ? 'never' : `${localTime(time)} (${fromNow(dateOf(time), now)})`;
  const columns: Columns<ClientSecret> = {
    SECRET: ({ secretId }) => ({ text: secretId, color: 'bold' }),
    STATE: ({ state }) => enumName(SecretStateSchema, state).replace('_', ' '),
    'LAST USED': ({ lastUsedAt }) => withDistance(lastUsedAt),
    EXPIRES: ({ expiresAt }) => withDistance(expiresAt),
    CREATED: ({ createdAt }) => createdAt,
  };
  return table(secrets, columns, 'No secrets.');
}
