import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { ConnectRouter } from '@connectrpc/connect';
import { ClientService } from '@course-exchange/proto/operator/v1/client';
import { KeyService } from '@course-exchange/proto/operator/v1/key';
import { UserService } from '@course-exchange/proto/operator/v1/user';
import { expect, test } from 'vitest';
import { run, runAgainst } from '../testing/run.ts';
import { jsonText } from './output/result.ts';
import { sanitize } from './output/terminal.ts';

const nowhere = ['--identity', '127.0.0.1:1', '--catalog', '127.0.0.1:1'];

const timeAdvice = 'Write it like 2h, 7d or 2026-11-20T13:20:00Z.';
const afterDashes = 'See --help; an argument that begins with a dash may follow --.';

test.each<[line: string, message: string, advice?: string]>([
  ['clinet list', "Unknown command 'clinet'.", 'Did you mean client?'],
  ['client lits', "Unknown command 'lits'.", 'Did you mean list?'],
  ['client show', "Missing required argument 'client-id'."],
  ['client show acme beta', "Too many arguments for 'show'. Expected 1 argument but got 2: acme, beta."],
  [
    'client approve acme --to gone',
    "Option '--to <state>' argument 'gone' is invalid. Allowed choices are draft, test, approved.",
  ],
  [
    'client secret add acme --expires-in soon',
    "--expires-in: 'soon' is not a duration.",
    'Write it like 30m, 12h, 14d or 2w.',
  ],
  ['audit list --since yesterday', "--since: 'yesterday' is not a time.", timeAdvice],
  ['audit list --since 2026-02-30', "--since: '2026-02-30' is not a time.", timeAdvice],
  ['audit list --since 0000-12-31T23:30:00Z', "--since: '0000-12-31T23:30:00Z' is not a time.", timeAdvice],
  ['audit list --until infinity', "--until: 'infinity' is not a time.", timeAdvice],
  [
    'refusals list --since 9999-12-31T23:59:59-01:00',
    "--since: '9999-12-31T23:59:59-01:00' is not a time.",
    timeAdvice,
  ],
  ['audit list --limit 0', "--limit: '0' is not a whole number from 1 to 1000000.", ''],
  ['audit verify --head 12', "--head: '12' is not a head.", 'Give it as `audit verify` printed it.'],
  ['client list --active --inactive', "Option '--inactive' cannot be used with option '--active'."],
  ['restore fence', "Required option '--restored <store>' not specified."],
  [
    'client plan /nowhere/clients.yaml',
    '/nowhere/clients.yaml cannot be read.',
    'Check the name; relative names start at the current directory.',
  ],
  ['client list --stack /nowhere/stack.json', '/nowhere/stack.json cannot be read.', ''],
  [
    'client list --operator Zoë',
    "The operator's name is not valid: use at most 64 ASCII letters, digits, spaces and . _ @ \\ -.",
    '',
  ],
  [
    'client deactivate acme',
    'acme gets no tokens from now on; its access tokens stay valid for up to 15 minutes. There is no terminal to confirm on.',
    'Add --yes if you mean it.',
  ],
  ['client show ', 'An argument is empty.', ''],
  ['user disable u_1 --dry-rnu', "Unknown option '--dry-rnu'.", 'Did you mean --dry-run?'],
  ['user disable --dry-rnu', "Unknown option '--dry-rnu'.", 'Did you mean --dry-run?'],
  ['user disable -dry-run', "Unknown option '-dry-run'.", afterDashes],
  ['user disable u_1 -force', "Unknown option '-force'.", afterDashes],
  ['user disable -x', "Unknown option '-x'.", afterDashes],
  ['client list -all', "Unknown option '-all'.", afterDashes],
  ['user show --acme', "Unknown option '--acme'.", afterDashes],
  ['consent list --user', "Option '--user <user>' argument missing."],
  ['consent list --user --client acme', "Option '--user <user>' argument missing."],
  ['client approve acme --note --dry-run', "Option '--note <text>' argument missing."],
  ['client approve acme --note --dry-rnu', "Option '--note <text>' argument missing."],
  ['key stage', "Required option '--algorithm <algorithm>' not specified."],
  ['user show', 'Name one user.', 'Give a sub, an e-mail address or --hash.'],
  ['user show u_1 --hash h', 'Name one user.', 'Give a sub, an e-mail address or --hash.'],
  ['consent list', 'Neither a user nor a client is given.', 'Use --user, --client or both.'],
  [
    'client register --client-id acme --technical-contact Ann',
    "'Ann' is not a contact.",
    'Write "Ann Example <ann@partner.example>"; a telephone number may follow.',
  ],
  [
    'client register acme.yaml --to-file acme.age --expires-in 90d',
    'Without --with-secret no secret is created: --to-file and --expires-in would have no effect.',
    'Add --with-secret, or leave them out and run `client secret add` later.',
  ],
  ['client register', 'The client has no identifier.', 'Give a registration file or --client-id.'],
  [
    'client list',
    'Nothing answers at 127.0.0.1:1 (--identity).',
    'Start the service, or give its address with --identity, --catalog or --stack.',
  ],
])('`%s` is refused: %s', async (line, message, advice = 'See --help.') => {
  const exit = message.startsWith('Nothing answers') ? 3 : 2;
  const argv = /--(identity|stack)/.test(line) ? line.split(' ') : [...nowhere, ...line.split(' ')];
  expect(await run(argv)).toEqual({ exit, out: '', err: `${message}\n${advice && `${advice}\n`}` });
  const { err } = await run([...argv, '--json']);
  const called = { code: 'unreachable', requestId: '00000000-0000-4000-8000-000000000000' };
  const more = exit === 3 ? called : { code: 'usage', requestId: null };
  const error = { ...more, message, mistakes: [], advice: advice || null };
  expect(JSON.parse(err)).toEqual({ error: { ...error, exitCode: exit } });
});

test.each([
  ['n', 2, 'Not confirmed; nothing was changed.'],
  ['y', 3, 'Nothing answers at 127.0.0.1:1 (--identity).'],
])('what cannot be undone asks; the answer %s ends with %i', async (answer, exit, message) => {
  const result = await run(['user', 'disable', 'u_1', ...nowhere], { answer });
  expect(result.exit).toBe(exit);
  const question = 'u_1 will be logged out everywhere and cannot log in. Continue? [y/N] ';
  expect(result.err).toContain(`${question}${message}`);
});

test('a noun alone prints its help to standard error and ends with 2', async () => {
  const { exit, out, err } = await run(['client']);
  expect({ exit, out }).toEqual({ exit: 2, out: '' });
  expect(err).toMatch(/^Usage: partnerctl client <command>/);
});

const user = { sub: 'u_1', email: 'ann@example.com', name: 'Ann \u001b[2J\u202e' };

test('contacts that were withheld are not shown as missing', async () => {
  const client = { registration: { clientId: 'acme' }, contactsWithheld: true };
  const routes = (router: ConnectRouter) => router.service(ClientService, { getClient: () => ({ client }) });
  const { out } = await runAgainst(routes, ['client', 'show', 'acme']);
  expect(out).toMatch(
    /Technical contact +not shown to auditors\nCredential contacts +not shown to auditors\n/,
  );
});

test('nothing that a service sends can control the terminal', async () => {
  const show = ['user', 'show', 'u_1'];
  const routes = (router: ConnectRouter) => router.service(UserService, { getUser: () => ({ user }) });
  const text = await runAgainst(routes, show);
  expect(text.out).toContain('Name      Ann �[2J�\n');
  const json = await runAgainst(routes, [...show, '--json']);
  expect(json.out).toContain('Ann \\u001b[2J\\u202e');
  expect(JSON.parse(json.out)).toMatchObject({ user });
  const refused = await run(['client', 'approve', 'acme', '--to', '\u001b[2J']);
  expect(refused.err).not.toContain('\u001b');
});

test('colours are for a terminal alone', async () => {
  const list = ['client', 'list'];
  const routes = (router: ConnectRouter) =>
    router.service(ClientService, {
      listClients: () => ({ clients: [{ registration: { clientId: 'acme' } }] }),
    });
  expect((await runAgainst(routes, list, { isTty: true })).out).toContain('\u001b[1macme\u001b[22m');
  expect((await runAgainst(routes, list)).out).not.toContain('\u001b');
  expect((await run(['--help'], { isTty: true })).out).toContain('\u001b[1mUsage:');
  expect((await run(['--help'])).out).not.toContain('\u001b');
  expect((await run(['clinet'], { isTty: true })).err).toContain('\u001b[31m');
});

const controls = 'a\u001b\u007f\u0085\u009f\u200e\u200f\u202a\u202e\u2066\u2069b';

test('a control character is replaced in text and escaped in JSON', () => {
  expect(sanitize(controls)).toMatch(/^a�{10}b$/);
  const text = jsonText({ name: controls }, 2);
  expect(text).not.toMatch(/[\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/);
  expect(text).toContain('\\u009f\\u200e');
  expect(JSON.parse(text)).toEqual({ name: controls });
});

test('a failure that no command foresees ends with exit code 1', async () => {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'main.ts'), 'nonsense'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  // The sentence finds no reader.
  child.stderr.destroy();
  expect(await once(child, 'exit')).toEqual([1, null]);
});

test('a catalog whose address is not given is neither asked nor shown', async () => {
  const status = (words: readonly string[], environment?: Record<string, string>) =>
    runAgainst(
      (router) => {
        router.service(ClientService, { describeInstallation: () => ({}), listClients: () => ({}) });
        router.service(KeyService, { listKeys: () => ({}) });
      },
      ['status', ...words],
      environment && { environment },
    );
  expect((await status([])).out).toMatch(/Catalog.*does not answer/);
  expect((await status([], {})).out).not.toContain('Catalog');
  expect(JSON.parse((await status(['--json'], {})).out)).toMatchObject({ catalogAnswers: null });
});
