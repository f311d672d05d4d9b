import { create } from '@bufbuild/protobuf';
import { Environment, EnvironmentRegistrationSchema } from '@course-exchange/proto/operator/v1/client';
import { expect, test } from 'vitest';
import { withRedirectUris } from './redirect-uris.ts';

const { UNSPECIFIED, TEST, PRODUCTION } = Environment;
const [a, b, c] = ['https://a.example/', 'https://b.example/', 'https://c.example/'];

/** What the values make of a for test and b for production, in an installation of the environment test. */
function edited(values: readonly string[], plain: Environment = TEST) {
  const present = [
    create(EnvironmentRegistrationSchema, { environment: plain, redirectUris: [a] }),
    create(EnvironmentRegistrationSchema, { environment: PRODUCTION, redirectUris: [b] }),
  ];
  return withRedirectUris(present, TEST, values).map(({ environment, redirectUris }) => [
    environment,
    ...redirectUris,
  ]);
}

test('a list without an environment is replaced by the name of that environment', () => {
  const expected = [
    [TEST, c],
    [PRODUCTION, b],
  ];
  expect(edited([`test=${c}`], UNSPECIFIED)).toEqual(expected);
});
