import { create } from '@bufbuild/protobuf';
import { Environment, EnvironmentRegistrationSchema } from '@course-exchange/proto/operator/v1/client';
import { expect, test } from 'vitest';
import { type RedirectUriOptions, withRedirectUris } from './registration-lines.ts';

const { UNSPECIFIED, TEST, PRODUCTION } = Environment;
const [a, b, c] = ['https://a.example/', 'https://b.example/', 'https://c.example/'];

/** What the options make of a for test and b for production, in an installation of the environment test. */
function edited(options: RedirectUriOptions, plain: Environment = TEST) {
  const present = [
    create(EnvironmentRegistrationSchema, { environment: plain, redirectUris: [a] }),
    create(EnvironmentRegistrationSchema, { environment: PRODUCTION, redirectUris: [b] }),
  ];
  const lists = withRedirectUris(present, TEST, options);
  return lists.map(({ environment, redirectUris }) => [environment, ...redirectUris].join(' '));
}

test('a list without an environment is replaced by the name of that environment', () => {
  const expected = [`${TEST} ${c}`, `${PRODUCTION} ${b}`];
  expect(edited({ redirectUri: [`test=${c}`] }, UNSPECIFIED)).toEqual(expected);
});

test('one list may be replaced while the other is added to', () => {
  const expected = [`${TEST} ${a} ${c}`, `${PRODUCTION} ${c}`];
  expect(edited({ redirectUri: [`production=${c}`], addRedirectUri: [c] })).toEqual(expected);
});

test.each<[RedirectUriOptions, string]>([
  [{ redirectUri: [c], addRedirectUri: [`test=${b}`] }, '--redirect-uri replaces the whole list for test'],
  [{ redirectUri: [`test=${c}`], removeRedirectUri: [a] }, '--redirect-uri replaces the whole list for test'],
  [{ addRedirectUri: [a] }, `"${a}" is already a redirect URI for test.`],
  [{ addRedirectUri: [a], removeRedirectUri: [a] }, `"${a}" is already a redirect URI for test.`],
  [{ addRedirectUri: [c], removeRedirectUri: [c] }, `"${c}" is not a redirect URI for test.`],
  [{ removeRedirectUri: [`production=${a}`] }, `"${a}" is not a redirect URI for production.`],
])('%j is refused', (options, sentence) => {
  expect(() => edited(options)).toThrow(sentence);
});
