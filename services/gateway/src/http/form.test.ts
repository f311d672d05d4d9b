// Form decoding: once, empty is absent, repetitions are reported, pairs are bounded (R3.1, R1.8, R7.5).
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeForm, readForm, requireForm } from './form.ts';
import type { IncomingRequest } from './request.ts';

test('every encoded form comes back', () => {
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

test('values that are not UTF-8 are named, whatever stands beside them', () => {
  expect(decodeForm('a=%C3%A9&b=%EF%BF%BD&c=x&d=%zz').notUtf8([...'abcde'])).toEqual([]);
  expect(decodeForm('a=%ff&b=%C3&c=%C3%EF%BF%BD%A9&d=%ed%a0%80&e=\uFFFD').notUtf8([...'ebcda'])).toEqual([
    ...'ebcda',
  ]);
  expect(decodeForm('a=%ff&b=%ff&a=').notUtf8(['a', 'c'])).toEqual(['a']);
});

test('known names that came more than once are reported, once each', () => {
  const known = ['a', 'b', 'c', '__proto__'];
  expect(decodeForm('a=1&a=1&b=2&a=3&b=&c=1&d=1&d=2').repeated(known)).toEqual(['a', 'b']);
  expect(decodeForm('__proto__=1&__proto__=2').repeated(known)).toEqual(['__proto__']);
});

test('1,000 pairs are read; of more none is, and a form of them is refused', () => {
  for (const many of [numbered(999), 'b&'.repeat(998), '&'.repeat(998)])
    expect(requireForm(`${many}&a=1`).get('a')).toBe('1');
  for (const tooMany of [numbered(1_000), 'b&'.repeat(1_000), '=&'.repeat(1_000), '&'.repeat(999)]) {
    expect(decodeForm(`a=1&${tooMany}`).get('a')).toBe('');
    expect(() => requireForm(`a=1&${tooMany}`)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
  }
});

const numbered = (count: number) => Array.from({ length: count }, (_, at) => `n${at}=x`).join('&');

function formOf(contentType: string | undefined) {
  const headers = { 'content-type': contentType };
  return readForm({ headers, body: 'a=1' } as unknown as IncomingRequest);
}

test('only application/x-www-form-urlencoded is a form, with or without parameters', () => {
  expect(formOf('Application/X-WWW-Form-Urlencoded; charset=UTF-8').get('a')).toBe('1');
  for (const other of [undefined, '', 'text/plain', 'application/json', 'application/x-www-form-urlencodedx'])
    expect(() => formOf(other)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
});
