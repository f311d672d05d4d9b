import { expect, test } from 'vitest';
import { bearerToken } from './access-token.ts';

test('a token has the letters of RFC 6750, and its header is of a bounded length', () => {
  expect(bearerToken('bearer  a.b-c_d~e+f/g== ')).toBe('a.b-c_d~e+f/g==');
  const long = `Bearer ${'a'.repeat(8_192)}`;
  for (const header of [undefined, '', 'Bearer', 'Bearer a b', 'Bearer é', 'Basic abc', long])
    expect([header, bearerToken(header)]).toEqual([header, undefined]);
});
