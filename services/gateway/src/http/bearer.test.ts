import { expect, test } from 'vitest';
import { bearerCall, bearerChallenge } from './bearer.ts';

test('the challenge names an error only when a token was sent (R21)', () => {
  for (const none of [undefined, '', 'Bearer', 'Bearer ', 'bearer', 'Basic abc', 'Bearerabc'])
    expect([none, bearerChallenge(none)]).toEqual([none, 'Bearer']);
  for (const some of ['Bearer x', 'bearer a.b.c', 'Bearer é'])
    expect([some, bearerChallenge(some)]).toEqual([some, 'Bearer error="invalid_token"']);
});

test('only what can be a token goes on to the service', () => {
  expect(bearerCall('bearer  a.b-c_d~e+f/g== ')).toEqual({ authorization: 'Bearer a.b-c_d~e+f/g==' });
  for (const none of [undefined, 'Bearer', 'Bearer a b', 'Bearer é', 'Basic abc'])
    expect([none, bearerCall(none)]).toEqual([none, {}]);
});
