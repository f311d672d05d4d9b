import { expect, test } from 'vitest';
import { emailKey } from './email.ts';

/** As Postgres' `lower`, which maps one letter to one. */
const lowered = (letter: string) => Array.from(letter.toLowerCase())[0] ?? '';

test('letters that `lower` makes equal are one letter in the key of an address [R30.13]', () => {
  for (let code = 0x80; code <= 0x1_ffff; code += 1) {
    if (code >= 0xd800 && code <= 0xdfff) continue;
    const letter = String.fromCodePoint(code);
    const [own, other] = [`a${letter}z@x.example`, `a${lowered(letter)}z@x.example`];
    expect(emailKey(own), code.toString(16)).toBe(emailKey(other));
    expect(emailKey(emailKey(own)), code.toString(16)).toBe(emailKey(own));
  }
});

test.each(['a@ü/x.example', 'a@ü%41.example', 'a@[::ü]', 'a@', ''])(
  '%j is a key of its own: its domain is no name',
  (email) => {
    expect(emailKey(email)).toBe(email);
  },
);
