// Form decoding: once, empty is absent, repetitions are reported (R1, R3, R7).
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeForm, isFormEncoded } from './form.ts';

test('what was encoded comes back, whatever it is', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (value) => {
      expect(decodeForm(new URLSearchParams({ a: value }).toString()).get('a')).toBe(value);
    }),
  );
});

test('decoding happens once', () => {
  expect(decodeForm('a=%2525').get('a')).toBe('%25');
});

test('empty and absent are the same; broken encoding is text', () => {
  const form = decodeForm('a=&b&c=%zz');
  expect([form.get('a'), form.get('b'), form.get('d'), form.get('c')]).toEqual(['', '', '', '%zz']);
});

test('names that came more than once are reported, once each', () => {
  expect(decodeForm('a=1&a=1&b=2&a=3&b=').repeated).toEqual(['a', 'b']);
  expect(decodeForm('__proto__=1&__proto__=2').repeated).toEqual(['__proto__']);
});

test('only application/x-www-form-urlencoded is a form, with or without parameters', () => {
  expect(isFormEncoded('Application/X-WWW-Form-Urlencoded; charset=UTF-8')).toBe(true);
  for (const other of [undefined, '', 'text/plain', 'application/json', 'application/x-www-form-urlencodedx'])
    expect(isFormEncoded(other)).toBe(false);
});
