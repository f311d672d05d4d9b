import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type FamilyId, newId } from './ids.ts';
import { hashSecret, newSecret } from './secrets.ts';
import { formatToken, parseToken } from './token-string.ts';

test('a token is its family and its secret, in characters that no client garbles (R18)', () => {
  for (let i = 0; i < 200; i += 1) {
    const family = newId<FamilyId>(randomBytes);
    const secret = newSecret(randomBytes);
    const token = formatToken(family, secret);
    expect(token).toMatch(/^[A-Za-z0-9_-]{65}$/);
    expect(parseToken(token)).toEqual({ family, hash: hashSecret(secret) });
  }
});

test('any other text is no token, and reading it never throws', () => {
  const other = fc
    .string({ unit: fc.constantFrom(...'aZ09-_:+% &=.{}ä€😀\0\n') })
    .filter((text) => !/^[A-Za-z0-9_-]{65}$/.test(text));
  fc.assert(
    fc.property(other, (text) => {
      expect(parseToken(text)).toBeUndefined();
    }),
  );
});

test.each([
  ['one character less', 64, ''],
  ['one character more', 66, ''],
  ['a line break at its end', 65, '\n'],
  ['a brace that would end the hash tag', 21, `}${'a'.repeat(43)}`],
])('a token with %s is refused', (_, length, end) => {
  expect(parseToken('a'.repeat(length) + end)).toBeUndefined();
});
