import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkVerifierForm, matchesChallenge, parseChallenge, verifyChallenge } from './pkce.ts';

const unreserved = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~';
const verifier = fc.string({ unit: fc.constantFrom(...unreserved), minLength: 43, maxLength: 128 });

const failure = (code: string) => expect.objectContaining({ code });

test('a verifier opens its own S256 and plain challenge and no other (R2.5)', () => {
  fc.assert(
    fc.property(verifier, verifier, (own, other) => {
      const hashed = createHash('sha256').update(own).digest('base64url');
      const s256 = parseChallenge(hashed, 'S256');
      const plain = parseChallenge(own, 'plain');
      for (const bound of [s256, plain]) {
        expect(verifyChallenge(bound, own)).toBe(true);
        if (other !== own) expect(verifyChallenge(bound, other)).toBe(false);
      }
    }),
  );
});

test('any text that cannot be a verifier is invalid_request (R2.4)', () => {
  const other = fc.string().filter((text) => text !== '' && !/^[A-Za-z0-9\-._~]{43,128}$/.test(text));
  fc.assert(
    fc.property(other, (text) => {
      expect(() => checkVerifierForm(text)).toThrow(failure('invalid_request'));
    }),
  );
});

test('a used code with a verifier where none was asked for is no second valid request (R10.4)', () => {
  expect(matchesChallenge(undefined, 'a'.repeat(43))).toBe(false);
  expect(matchesChallenge(undefined, '')).toBe(true);
});
