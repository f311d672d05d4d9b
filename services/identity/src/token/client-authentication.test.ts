import { Failure } from '@course-exchange/runtime/process/errors';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseBasic, readClientCredentials } from './client-authentication.ts';

const formEncode = (text: string) => new URLSearchParams({ '': text }).toString().slice(1);
const basicOf = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
const none = { authorization: '', clientId: '', clientSecret: '' };

function codeOf(work: () => unknown): string {
  try {
    work();
    return 'passes';
  } catch (error) {
    return error instanceof Failure ? error.code : String(error);
  }
}

test('text that a client form-encodes into Basic is read again (R7.7)', () => {
  const text = fc.string({ unit: fc.constantFrom(...'aZ09-_:+% &=.{}ä€😀\0\n') });
  fc.assert(
    fc.property(text, text, (clientId, clientSecret) => {
      const header = basicOf(`${formEncode(clientId)}:${formEncode(clientSecret)}`);
      expect(parseBasic(header)).toEqual({ clientId, clientSecret });
    }),
  );
});

test('Basic is split at the first colon, and only then decoded (R7.7)', () => {
  expect(parseBasic(basicOf('a%3Ab:c:d'))).toEqual({ clientId: 'a:b', clientSecret: 'c:d' });
  expect(parseBasic(basicOf('a+b:c%2Bd'))).toEqual({ clientId: 'a b', clientSecret: 'c+d' });
});

test('the scheme is read in any letter case, and padding may be left out', () => {
  expect(parseBasic('bAsIc YTpi')).toEqual({ clientId: 'a', clientSecret: 'b' });
  expect(parseBasic('Basic YTpiYg')).toEqual({ clientId: 'a', clientSecret: 'bb' });
});

test.each(['Basic', 'Basic ', 'Basic !!!!', 'Bearer YTpi', 'YTpi', 'Basic YTpi YTpi', basicOf('no colon')])(
  'the Authorization header %j is malformed: invalid_client (R7.9)',
  (authorization) => {
    expect(codeOf(() => readClientCredentials({ ...none, authorization }))).toBe('invalid_client');
  },
);

test('broken percent-encoding and broken UTF-8 are malformed too (R7.9)', () => {
  expect(parseBasic(basicOf('a:%zz'))).toBeUndefined();
  expect(parseBasic(`Basic ${Buffer.from([0x61, 0x3a, 0xff]).toString('base64')}`)).toBeUndefined();
});

test('no header at all makes the parser throw anything but a Failure', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.string(), (authorization, clientId, clientSecret) => {
      const outcome = codeOf(() => readClientCredentials({ authorization, clientId, clientSecret }));
      expect(['passes', 'invalid_client', 'invalid_request']).toContain(outcome);
    }),
  );
});

test('two methods at once are invalid_request, also when the header is malformed (R7.5)', () => {
  for (const authorization of [basicOf('a:b'), 'Basic !'])
    expect(codeOf(() => readClientCredentials({ ...none, authorization, clientSecret: 'b' }))).toBe(
      'invalid_request',
    );
});
