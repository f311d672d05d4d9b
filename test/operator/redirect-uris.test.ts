// Redirect URIs as a partner manager edits them, in an installation of the environment test.
import { beforeAll, expect, test } from 'vitest';
import { answerOf, startTool, tool, toolEnvironment } from './tool.ts';

const one = 'https://uris.example/one';
const two = 'https://uris.example/two';
const live = 'https://uris.example/live';
const registration = `clientId: uris
name: Redirect URIs
environments:
  test: { redirectUris: [${one}] }
  production: { redirectUris: [${live}] }
scopes: [openid]
`;
const register = (...words: string[]) =>
  startTool(['client', 'register', '-', ...words], toolEnvironment(), registration).ended;
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
