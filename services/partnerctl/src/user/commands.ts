// user/ is the commands about users, and their import.

// `user`: users are imported, disabled, enabled and signed out, never deleted.
import type { MessageInitShape } from '@bufbuild/protobuf';
import { type User, type UserNameSchema, UserService } from '@course-exchange/proto/operator/v1/user';
import { newCommand, newGroup, withAction } from '../cli/command.ts';
import { CliError, usageError } from '../output/errors.ts';
import { changeResult } from '../output/result.ts';
import { fields, localTime } from '../output/table.ts';
import { importCommand } from './import.ts';

export function userCommand() {
  const about = 'Users: import, show, disable, sign out';
  return newGroup('user', about, [
    importCommand(),
    showCommand(),
    disableCommand(),
    enableCommand(),
    signOutCommand(),
    unthrottleCommand(),
    refoldCommand(),
  ]);
}

/** How an operator names a user: no `sub` holds an @. */
export function userNamed(text: string): MessageInitShape<typeof UserNameSchema> {
  return { name: text.includes('@') ? { case: 'email', value: text } : { case: 'sub', value: text } };
}

const userArgument = ['<user>', 'The user: sub or e-mail address'] as const;

function showCommand() {
  const command = newCommand('show', {
    about: 'Show a user',
    details:
      'Logs name a user by a keyed hash. --hash looks for it among all users, which takes 5 s for a million.',
    examples: {
      'By e-mail address': 'partnerctl user show ann@example.com',
      'By the hash in a log line': 'partnerctl user show --hash bw7yWkQ1x0aVZ3mT5uN8rg',
    },
  })
    .argument('[user]', 'The user: sub or e-mail address')
    .option('--hash <hash>', 'The user, as logs name it');
  return withAction(command, async ({ services }, name, { hash = '' }) => {
    if ((name === undefined) === (hash === ''))
      throw usageError('Name one user.', 'Give a sub, an e-mail address or --hash.');
    const request = name === undefined ? { userHash: hash } : { user: userNamed(name) };
    const { user } = await services.identity(UserService).getUser(request, { timeoutMs: 120_000 });
    if (!user) throw new CliError('missing', 'There is no such user.');
    return { json: { user }, text: userText(user) };
  });
}

function disableCommand() {
  const command = newCommand('disable', {
    about: 'Lock a user out from the next request on',
    details: 'Ends browser sessions and refuses login, code exchange, refresh and UserInfo.',
    examples: { 'By sub': 'partnerctl user disable u_5mV3rT0kQ9o' },
    takes: ['--dry-run', '--yes'],
  }).argument(...userArgument);
  return withAction(command, async (context, name) => {
    await context.confirm(`${name} will be logged out everywhere and cannot log in.`);
    const request = { user: userNamed(name), dryRun: context.dryRun };
    return changeResult(context, await context.services.identity(UserService).disableUser(request));
  });
}

function enableCommand() {
  const command = newCommand('enable', {
    about: 'Let a user log in again',
    details:
      'Sessions and connections from before the user was disabled stay ended: users connect again at the partner.',
    examples: { 'By e-mail address': 'partnerctl user enable ann@example.com' },
    takes: ['--dry-run'],
  }).argument(...userArgument);
  return withAction(command, async (context, name) => {
    const request = { user: userNamed(name), dryRun: context.dryRun };
    const response = await context.services.identity(UserService).enableUser(request);
    return changeResult(context, response, '', { accessTokensEndAt: null });
  });
}

function signOutCommand() {
  const command = newCommand('sign-out', {
    about: 'End all browser sessions and refresh tokens of a user',
    details: 'The user may log in and connect again.',
    examples: { 'After a lost laptop': 'partnerctl user sign-out ann@example.com' },
    takes: ['--dry-run', '--yes'],
  }).argument(...userArgument);
  return withAction(command, async (context, name) => {
    await context.confirm(`${name} will be logged out everywhere and must reconnect every partner.`);
    const request = { user: userNamed(name), dryRun: context.dryRun };
    return changeResult(context, await context.services.identity(UserService).signOutUser(request));
  });
}

function unthrottleCommand() {
  const command = newCommand('unthrottle', {
    about: 'Forget the failed logins of a user, which delay the next ones',
    details:
      'For a user who waits while others guess the password. The user should log in at once: from then on that browser and network do not wait. It reads the names of all keys in Redis.',
    examples: { 'By e-mail address': 'partnerctl user unthrottle ann@example.com' },
    takes: ['--dry-run'],
  }).argument(...userArgument);
  return withAction(command, async (context, name) => {
    const request = { user: userNamed(name), dryRun: context.dryRun };
    const users = context.services.identity(UserService);
    return changeResult(context, await users.unthrottleUser(request, { timeoutMs: 120_000 }));
  });
}

function refoldCommand() {
  const command = newCommand('refold', {
    about: 'Write the e-mail keys of users whom an earlier version stored',
    details:
      'By these keys a login finds its user in each spelling of the address: bücher.example or xn--bcher-kva.example. Run it after an upgrade from 0.1.0, and again after a rollback. It also lists users who have one address in different spellings; each of them logs in by its stored spelling alone. An interrupted run can be repeated.',
    examples: { 'After an upgrade': 'partnerctl user refold' },
    takes: ['--dry-run'],
  });
  return withAction(command, async ({ services, dryRun, signal }) => {
    const counts = { examined: 0, refolded: 0 };
    for (let after = ''; ; ) {
      const page = await services.identity(UserService).refoldUsers({ after, dryRun }, { signal });
      for (const name of Object.keys(counts) as (keyof typeof counts)[]) counts[name] += page[name];
      after = page.last;
      if (after !== '') continue;
      const shared = page.shared.map(({ subs }) => subs);
      return { json: { dryRun, ...counts, shared }, text: refoldText({ dryRun, ...counts, shared }) };
    }
  });
}

interface Refolded {
  readonly dryRun: boolean;
  readonly examined: number;
  readonly refolded: number;
  readonly shared: readonly (readonly string[])[];
}

function refoldText({ dryRun, examined, refolded, shared }: Refolded): string {
  const done = dryRun ? 'would be written' : 'written';
  const keys = `E-mail keys ${done}: ${refolded} of ${examined} users.\n`;
  if (shared.length === 0) return keys;
  const users = shared.map((subs) => `  ${subs.join('  ')}\n`).join('');
  return `${keys}Users who have one address in different spellings:\n${users}`;
}

function userText(user: User): string {
  const { disabledAt, signedOutAt } = user;
  return fields({
    User: user.sub,
    'E-mail': `${user.email} (${user.emailVerified ? 'verified' : 'not verified'})`,
    Name: user.name,
    State: disabledAt ? `disabled since ${localTime(disabledAt)}` : 'enabled',
    'Signed out': signedOutAt && `sessions and tokens from before ${localTime(signedOutAt)}`,
    Password: user.passwordAlgorithm,
    'Log hash': user.userHash,
    Since: user.createdAt,
  });
}
