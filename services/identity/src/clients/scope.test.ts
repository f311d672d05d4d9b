import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatScope, intersection, isWithin, knownScopes, parseScope } from './scope.ts';

const scopes = fc.uniqueArray(fc.constantFrom(...knownScopes));

test('written scopes are read again, in any order', () => {
  fc.assert(
    fc.property(scopes, (list) => {
      expect(parseScope(formatScope(list))).toEqual(list);
    }),
  );
});

test('a scope that is named twice counts once, in the order of its first mention', () => {
  expect(parseScope('email  openid email ')).toEqual(['email', 'openid']);
});

test('a list with any other word is no list of scopes (specification §5)', () => {
  const foreign = fc.string({ minLength: 1 }).filter((word) => !/ /.test(word) && !parseScope(word)?.length);
  fc.assert(
    fc.property(scopes, foreign, (list, word) => {
      expect(parseScope([...list, word].join(' '))).toBeUndefined();
    }),
  );
  for (const text of ['OpenID', 'openid,email', 'openid\temail', 'offline_access', 'constructor'])
    expect(parseScope(text)).toBeUndefined();
});

test('an intersection lies within both lists and keeps the order of the first', () => {
  fc.assert(
    fc.property(scopes, scopes, (asked, allowed) => {
      const both = intersection(asked, allowed);
      expect(isWithin(both, asked) && isWithin(both, allowed)).toBe(true);
      expect(both).toEqual(asked.filter((scope) => both.includes(scope)));
    }),
  );
});
