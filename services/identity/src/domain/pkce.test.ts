import { createHash } from 'node:crypto';
import { Failure } from '@course-exchange/runtime/failure';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkVerifierForm, parseChallenge, verifyChallenge } from './pkce.ts';

const unreserved = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~';
const verifier = fc.string({ unit: fc.constantFrom(...unreserved), minLength: 43, maxLength: 128 });

function codeOf(work: () => unknown): string {
  try {
    work();
    return 'passes';
  } catch (error) {
    return error instanceof Failure ? error.code : String(error);
  }
}

test('a verifier opens its own S256 and plain challenge and no other (R2)', () => {
  fc.assert(
    fc.property(verifier, verifier, (own, other) => {
      const hashed = createHash('sha256').update(own).digest('base64url');
      const s256 = parseChallenge(hashed, 'S256');
      const plain = parseChallenge(own, 'plain');
      for (const bound of [s256, plain]) {
        expect(codeOf(() => verifyChallenge(bound, own))).toBe('passes');
        if (other !== own) expect(codeOf(() => verifyChallenge(bound, other))).toBe('invalid_grant');
      }
    }),
  );
});

test('a challenge without a method means plain; neither means that PKCE is not used (R2)', () => {
  expect(parseChallenge('a'.repeat(43), '')).toEqual({ challenge: 'a'.repeat(43), method: 'plain' });
  expect(parseChallenge('', '')).toBeUndefined();
});

test.each([
  ['a method without a challenge', '', 'S256'],
  ['an unknown method', 'a'.repeat(43), 'S512'],
  ['a method in other letters', 'a'.repeat(43), 's256'],
  ['a short challenge', 'a'.repeat(42), 'S256'],
  ['a long challenge', 'a'.repeat(129), 'S256'],
  ['a challenge with another character', `${'a'.repeat(43)}+`, 'S256'],
  ['a challenge with a line break', `${'a'.repeat(43)}\n`, 'S256'],
])('%s is invalid_request (R2)', (_, challenge, method) => {
  expect(codeOf(() => parseChallenge(challenge, method))).toBe('invalid_request');
});

test('a verifier missing or unasked for is invalid_request (R2)', () => {
  const bound = parseChallenge('a'.repeat(43), 'plain');
  expect(codeOf(() => verifyChallenge(bound, ''))).toBe('invalid_request');
  expect(codeOf(() => verifyChallenge(undefined, 'a'.repeat(43)))).toBe('invalid_request');
  expect(codeOf(() => verifyChallenge(undefined, ''))).toBe('passes');
});

test('any text that cannot be a verifier is invalid_request (R2)', () => {
  const other = fc.string().filter((text) => text !== '' && !/^[A-Za-z0-9\-._~]{43,128}$/.test(text));
  fc.assert(
    fc.property(other, (text) => {
      expect(codeOf(() => checkVerifierForm(text))).toBe('invalid_request');
    }),
  );
});
