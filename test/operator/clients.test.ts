// Clients as a partner manager keeps them, on a real stack: their redirect URIs, in an installation of the environment test; the
// volume that an approval confirms; and their conduct.
import { beforeAll, expect, test } from 'vitest';
import { openCaller } from '../support/flow.ts';
import { runningStack } from '../support/stack-file.ts';
import { answerOf, startTool, tool, toolEnvironment } from './tool.ts';

const one = 'https://uris.example/one';
const two = 'https://uris.example/two';
const live = 'https://uris.example/live';
const withUris = `clientId: uris
name: Redirect URIs
environments:
  test: { redirectUris: [${one}] }
  production: { redirectUris: [${live}] }
scopes: [openid]
`;
const register = (...words: string[]) =>
  startTool(['client', 'register', '-', ...words], toolEnvironment(), withUris).ended;
const edit = (options: string) => ['client', 'edit', 'uris', ...options.split(' '), '--dry-run'];

/** The lists of a client by environment, as --json tells them. */
function listsOf({ client }: Record<string, unknown>): Record<string, readonly string[]> {
  const { environments } = (
    client as { registration: { environments: { environment: string; redirectUris: string[] }[] } }
  ).registration;
  return Object.fromEntries(environments.map((list) => [list.environment, list.redirectUris]));
}

beforeAll(async () => {
  expect(await register()).toMatchObject({ exit: 0 });
});

test('a plain URI replaces the list that a registration file has for this environment', async () => {
  const { out, err } = await register('--client-id', 'uris-2', '--redirect-uri', two, '--dry-run', '--json');
  expect(err).toBe('');
  expect(listsOf(JSON.parse(out))).toEqual({ test: [two], production: [live] });
});

test.each([
  [`--redirect-uri ${two}`, { test: [two], production: [live] }],
  [`--add-redirect-uri ${two} --remove-redirect-uri test=${one}`, { test: [two], production: [live] }],
  [`--remove-redirect-uri production=${live}`, { test: [one] }],
])('the dry run of `client edit` with %s tells every list that would result', async (options, lists) => {
  expect(listsOf(await answerOf(...edit(options)))).toEqual(lists);
  expect(listsOf(await answerOf('client', 'show', 'uris'))).toEqual({ test: [one], production: [live] });
});

test('the dry run shows people the same, below what would change', async () => {
  const { out } = await tool(...edit(`--add-redirect-uri ${two}`));
  expect(out).toContain(
    `redirect_uris.test: ["${one}"] → ["${one}","${two}"]\nAll redirect URIs would be:\n`,
  );
  expect(out).toContain(`\n  test        ${one}\n  test        ${two}\n  production  ${live}\n`);
});

test.each([
  [2, `--remove-redirect-uri ${one}`, 'The environment test needs at least one redirect URI.'],
  [4, `--add-redirect-uri ${two} --expected-version 9`, 'Client uris was changed meanwhile'],
])('exit code %i of `client edit` with %s', async (code, options, sentence) => {
  const { exit, out, err } = await tool(...edit(options));
  expect({ exit, out, err }).toEqual({ exit: code, out: '', err: expect.stringContaining(sentence) });
});

const redirectUris = ['https://volume.example/cb'] as const;
const scopes = ['openid', 'email', 'profile'];
const withVolume = `clientId: volume
name: Volume
technicalContact: { name: T, email: t@volume.example }
credentialContacts: [{ name: C, email: c@volume.example }]
environments: { test: { redirectUris: [${redirectUris}] } }
scopes: [${scopes}]
userJourney: j
requirements: { logout: l, unlinking: u, retention: r }
`;
let clientSecret: string;

test('an approval writes the confirmed figures and who confirmed them into the audit log', async () => {
  const words = ['client', 'register', '-', '--with-secret', '--json'];
  const { out } = await startTool(words, toolEnvironment(), withVolume).ended;
  clientSecret = (JSON.parse(out) as { secret: { secret: string } }).secret.secret;
  await answerOf('client', 'approve', 'volume');
  const { longestList: _, ...figures } = await answerOf('designs', 'volume');
  await answerOf('client', 'approve', 'volume', '--volume-confirmed', '--operator', 'ann');
  const { entries } = await answerOf('audit', 'list', '--client', 'volume', '--action', 'client.approval');
  expect(entries).toMatchObject([
    {
      change: {
        fields: [
          { field: 'approval_state', after: 'test' },
          { before: 1, after: 2 },
        ],
      },
    },
    {
      actor: 'local:ann',
      change: {
        fields: [{ after: 'approved' }, { field: 'version' }, { field: 'confirmed_volume', after: figures }],
      },
    },
  ]);
});

test('the volume of a client is what the users who consented to it can read', async () => {
  await answerOf('client', 'activate', 'volume');
  expect(await answerOf('designs', 'volume', '--client', 'volume')).toMatchObject({ users: 0, events: 0 });
  const partner = { name: 'Volume', clientId: 'volume', clientSecret, redirectUris, scopes, active: true };
  const caller = await openCaller({ ...runningStack(), partners: [partner] });
  const list = await caller.events((await caller.newTokens()).access_token);
  const { items } = list.json() as { items: { designCount: number }[] };
  expect(await answerOf('designs', 'volume', '--client', 'volume')).toMatchObject({
    users: 1,
    events: items.length,
    designs: items.reduce((sum, { designCount }) => sum + designCount, 0),
    eventsPerUser: { median: items.length, largest: items.length },
    longestList: { events: items.length, bytes: Buffer.byteLength(list.text) },
  });
});

test('a broken duty ends the command with 1 and names its last request; what does not apply is left out', async () => {
  const caller = await openCaller(runningStack());
  await caller.newTokens();
  const { clientId } = caller.partner;
  const [text, section] = [expect.any(String), 'S5.flow'];
  const broken = { verdict: 'broken', count: expect.any(Number), lastAt: text, requestId: text };
  // Other tests may have broken other duties of this client before.
  const conduct = () => tool('client', 'conduct', clientId, '--json');
  const duties = async () => JSON.parse((await conduct()).out).duties;
  await expect.poll(duties, { interval: 1_000 }).toContainEqual({ duty: 'pkce', section, ...broken });
  const { exit, out } = await conduct();
  const json = JSON.parse(out);
  expect([exit, json]).toEqual([1, { clientId, duties: expect.any(Array) }]);
  expect(json.duties).toContainEqual({ duty: 'id_token', section, verdict: 'not_visible' });
  for (const duty of json.duties) expect('lastAt' in duty).toBe(duty.verdict === 'broken');
  expect(await tool('client', 'conduct', 'nobody')).toMatchObject({ exit: 5 });
});
