import fc from 'fast-check';
import { expect, it } from 'vitest';
import { codeLocation, errorLocation } from './authorization-answer.ts';

const redirectUri = 'https://Partner.example/Call%62ack';

it('an answer is appended to the registered text, unchanged (R3)', () => {
  expect(codeLocation({ redirectUri, state: 'a b+c&d=é' }, 'family.secret')).toBe(
    'https://Partner.example/Call%62ack?code=family.secret&state=a+b%2Bc%26d%3D%C3%A9',
  );
});

it('an answer carries no state when there was none, and no issuer (R3, R4)', () => {
  expect(errorLocation({ redirectUri, state: '' }, 'access_denied')).toBe(
    'https://Partner.example/Call%62ack?error=access_denied',
  );
});

it('any state comes back exactly, and stays in the query (R3)', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (state) => {
      const location = errorLocation({ redirectUri, state }, 'invalid_request');
      expect(location.startsWith(`${redirectUri}?error=invalid_request&state=`)).toBe(true);
      expect(location).not.toMatch(/[\r\n#]/);
      expect(new URLSearchParams(location.slice(redirectUri.length)).get('state')).toBe(
        Buffer.from(state).toString(),
      );
    }),
  );
});
