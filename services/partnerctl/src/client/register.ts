// `client register` and `client edit`: a registration from a file, options, or both.
import { create, equals } from '@bufbuild/protobuf';
import { Option } from '@commander-js/extra-typings';
import {
  type ClientRegistration,
  ClientRegistrationSchema,
  ClientService,
  type EnvironmentRegistration,
  type RegisterClientResponse,
} from '@course-exchange/proto/operator/v1/client';
import { type CommandContext, newCommand, withAction } from '../cli/command.ts';
import { durationOption, given, noteOption, repeated, versionOption } from '../cli/options.ts';
import { toCliError } from '../connection/services.ts';
import { readTextFile } from '../files/named-files.ts';
import { CliError, usageError } from '../output/errors.ts';
import { changeResult } from '../output/result.ts';
import { encryptToOption, toFileOption, withHandover } from '../secret/handover.ts';
import { readRegistration, unusableFile } from './registration-file.ts';
import { gapsText, parseContact, proofText, warningsText, withRedirectUris } from './registration-lines.ts';

export function registerCommand() {
  const command = newRegistrationCommand('register', {
    about: 'Register a client as an inactive draft',
    details:
      'Reads a registration in YAML (docs/operate.md shows one), options, or both: an option overrides the file. Reports every mistake at once.',
    examples: {
      'Check a registration, then register it': 'partnerctl client register acme.yaml --dry-run',
      "With a first secret, encrypted to the partner's age key":
        'partnerctl client register acme.yaml --with-secret --encrypt-to age1… --to-file acme.age',
      'From options alone':
        'partnerctl client register --client-id acme --name Acme --redirect-uri https://acme.example/callback --scope openid',
    },
    takes: ['--dry-run'],
  })
    .argument('[registration]', 'YAML file; - reads standard input')
    .option('--client-id <client-id>', 'Identifier of the client: 1–64 of A–Z a–z 0–9 _ -')
    .option('--with-secret', 'Create a first secret too')
    .addOption(durationOption('--expires-in <time>', 'Lifetime of the first secret, such as 90d'))
    .addOption(toFileOption)
    .addOption(encryptToOption);
  return withAction(command, async (context, file, options) => {
    if (!options.withSecret) refuseSecretOptions(options);
    if (file === '-' && options.encryptTo === '-')
      throw usageError(
        'Standard input cannot be both the registration and the key.',
        'Register first, then `client secret add --encrypt-to -`.',
      );
    const { dryRun, services } = context;
    const request = {
      registration: await registrationFrom(context, file, options),
      withSecret: options.withSecret === true,
      ...given({ secretExpiresIn: options.expiresIn }),
      dryRun,
    };
    const register = () => services.identity(ClientService).registerClient(request);
    const text = (response: RegisterClientResponse) =>
      proofText(response, dryRun) + warningsText(response) + gapsText(response);
    return withHandover(context, options.withSecret ? options : undefined, register, text);
  });
}

/** No secret is created without --with-secret: they would be ignored silently. */
function refuseSecretOptions(options: object): void {
  const flags = { toFile: '--to-file', encryptTo: '--encrypt-to', expiresIn: '--expires-in' };
  const used = Object.entries(flags).flatMap(([name, flag]) => (name in options ? [flag] : []));
  if (used.length === 0) return;
  throw usageError(
    `Without --with-secret no secret is created: ${used.join(' and ')} would have no effect.`,
    'Add --with-secret, or leave them out and run `client secret add` later.',
  );
}

async function registrationFrom(
  context: CommandContext,
  file: string | undefined,
  options: RegistrationValues & { readonly clientId?: string },
): Promise<ClientRegistration> {
  const empty = { registration: create(ClientRegistrationSchema), mistakes: [] };
  const read = file === undefined ? empty : readRegistration(file, await readTextFile(context, file));
  const { registration: base, mistakes } = read;
  if (base === undefined) throw unusableFile(file ?? '', mistakes);
  const named = { ...base, ...given({ clientId: options.clientId }) };
  const registration = await withOptions(context, named, options);
  if (mistakes.length > 0) {
    const further = await mistakesOf(context, registration);
    throw unusableFile(file ?? '', [...mistakes, ...further]);
  }
  if (registration.clientId) return registration;
  throw usageError('The client has no identifier.', 'Give a registration file or --client-id.');
}

/** The service's objections to it. */
async function mistakesOf({ services }: CommandContext, registration: ClientRegistration): Promise<string[]> {
  const register = services.identity(ClientService).registerClient({ registration, dryRun: true });
  const error = await register.then(
    () => undefined,
    (cause) => toCliError(cause, services.lastAddress),
  );
  if (!(error instanceof CliError) || error.exit !== 'usage') return [];
  return [error.message, ...(error.details.mistakes ?? [])];
}

export function editCommand() {
  const command = newRegistrationCommand('edit', {
    about: "Change a client's registration",
    details:
      'Options change what they name and keep the rest. A repeatable option replaces the whole list, --redirect-uri that of its environment; --add-redirect-uri and --remove-redirect-uri change single URIs. --file replaces the whole registration. In production, what adds redirect URIs or scopes to an approved client approves the result, and needs --note; what is removed is removed at once. Exit code 4 if somebody else has changed it meanwhile.',
    examples: {
      "Replace production's redirect URIs":
        'partnerctl client edit acme --redirect-uri production=https://acme.example/cb',
      'Add a redirect URI of this environment':
        'partnerctl client edit acme --add-redirect-uri https://acme.example/cb2 --note "Mail of 2026-11-20"',
      'Remove a redirect URI of production':
        'partnerctl client edit acme --remove-redirect-uri production=https://acme.example/cb',
      'From a file: first see what would change': 'partnerctl client edit acme --file acme.yaml --dry-run',
    },
    takes: ['--dry-run'],
  })
    .argument('<client-id>', 'The client')
    .addOption(redirectUriEdit('--add-redirect-uri <uri>', 'Add a redirect URI'))
    .addOption(redirectUriEdit('--remove-redirect-uri <uri>', 'Remove a redirect URI'))
    .option('--file <file>', 'YAML registration to replace the present one')
    .addOption(noteOption)
    .addOption(versionOption);
  return withAction(command, async (context, clientId, { file, note = '', expectedVersion, ...options }) => {
    const { dryRun, services } = context;
    const clients = services.identity(ClientService);
    const { client } = await clients.getClient({ clientId });
    if (!client?.registration) throw new CliError('missing', `There is no client ${clientId}.`);
    const present = client.registration;
    const base = file === undefined ? present : await replacementFrom(context, file, present.clientId);
    const edited = await withOptions(context, base, options);
    if (file === undefined && equals(ClientRegistrationSchema, edited, present)) {
      throw usageError('No option changes anything.', 'Name a field, or --file with a registration.');
    }
    const seen = expectedVersion ?? client.version;
    const request = { registration: edited, expectedVersion: seen, note, dryRun };
    const response = await clients.editClient(request);
    return changeResult(context, response, proofText(response, dryRun) + warningsText(response));
  });
}

/** It changes the registered list, which a file would replace. */
function redirectUriEdit<const Flags extends string>(flags: Flags, about: string) {
  const all = `${about} of this environment, or test=… or production=…; repeatable, not with --file`;
  return new Option(flags, all).argParser(repeated).conflicts('file');
}

async function replacementFrom(
  context: CommandContext,
  name: string,
  clientId: string,
): Promise<ClientRegistration> {
  const { registration, mistakes } = readRegistration(name, await readTextFile(context, name));
  if (registration === undefined || mistakes.length > 0) throw unusableFile(name, mistakes);
  if (registration.clientId === clientId) return registration;
  throw usageError(`${name} is the registration of ${registration.clientId}, not of ${clientId}.`);
}

function newRegistrationCommand(...command: Parameters<typeof newCommand>) {
  return newCommand(...command)
    .option('--name <name>', 'Name of the application, as users see it')
    .option(
      '--technical-contact <contact>',
      'Contact for the integration: "Ann Example <ann@partner.example> +49 30 1"',
    )
    .option(
      '--credential-contact <contact>',
      'Who receives secrets and is called about a rotation; repeatable',
      repeated,
    )
    .option(
      '--redirect-uri <uri>',
      "Redirect URI of this environment, or test=… or production=…; replaces that environment's list; repeatable",
      repeated,
    )
    .option('--scope <scope>', 'openid, profile or email; repeatable', repeated)
    .option('--user-journey <text>', 'What a user does at the partner, in a sentence')
    .option('--logout <text>', 'What the partner requires for logout')
    .option('--unlinking <text>', 'What it requires for unlinking an account')
    .option('--retention <text>', 'What it requires for retention of data');
}

type RedirectUriOptions = Parameters<typeof withRedirectUris>[2];
type RegistrationValues = ReturnType<ReturnType<typeof newRegistrationCommand>['opts']>;

async function withOptions(
  context: CommandContext,
  registration: ClientRegistration,
  values: RegistrationValues & RedirectUriOptions,
): Promise<ClientRegistration> {
  const { name, technicalContact, credentialContact, scope, userJourney } = values;
  const edited = given({
    name,
    technicalContact: technicalContact === undefined ? undefined : parseContact(technicalContact),
    credentialContacts: credentialContact?.map(parseContact),
    environments: await editedEnvironments(context, registration, values),
    scopes: scope?.flatMap((text) => text.split(/[\s,]+/).filter(Boolean)),
    userJourney,
    logoutRequirements: values.logout,
    unlinkingRequirements: values.unlinking,
    retentionRequirements: values.retention,
  });
  return { ...registration, ...edited };
}

async function editedEnvironments(
  { services }: CommandContext,
  { environments }: ClientRegistration,
  options: RedirectUriOptions,
): Promise<EnvironmentRegistration[] | undefined> {
  if (!(options.redirectUri ?? options.addRedirectUri ?? options.removeRedirectUri)) return undefined;
  const { environment } = await services.identity(ClientService).describeInstallation({});
  return withRedirectUris(environments, environment, options);
}
