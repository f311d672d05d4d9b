import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { FamilyId } from './ids.ts';
import { formatToken, hashSecret, newId, newSecret, parseToken, pooled } from './secrets.ts';

test('a token is its family and its secret, in characters that no client garbles (R18.1)', () => {
  for (let i = 0; i < 200; i += 1) {
    const familyId = newId<FamilyId>(randomBytes);
    const secret = newSecret(randomBytes);
    const token = formatToken(familyId, secret);
    expect(token).toMatch(/^[A-Za-z0-9_-]{65}$/);
    expect(parseToken(token)).toEqual({ familyId, hash: hashSecret(secret) });
  }
});

test('no identifier begins with a dash, which a command line takes for an option', () => {
  const firsts = Array.from({ length: 256 }, (_, byte) => newId(() => Buffer.alloc(16, byte))[0]);
  expect(firsts).not.toContain('-');
  expect(new Set(firsts).size).toBe(63);
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

test('a pool gives out each random byte once, and keeps none that it gave out', () => {
  const drawn: Buffer[] = [];
  const copies: Buffer[] = [];
  const take = pooled((size) => {
    const bytes = randomBytes(size);
    drawn.push(bytes);
    copies.push(Buffer.from(bytes));
    return bytes;
  });
  const sizes = [32, 16, 4_000, 32, 16, 4_096, 5_000, 32];
  const given = sizes.map((size) => take(size));
  expect(given.map(({ length }) => length)).toEqual(sizes);
  const everything = Buffer.concat(copies);
  const places = given.map((bytes) => everything.indexOf(bytes));
  expect(new Set(places).size).toBe(sizes.length);
  expect(places).not.toContain(-1);
  for (const bytes of given.filter(({ length }) => length <= 4_096))
    expect(Buffer.concat(drawn).includes(bytes)).toBe(false);
});
