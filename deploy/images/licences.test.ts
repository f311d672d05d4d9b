// Which licences pass.
import { expect, test } from 'vitest';
import { unaccepted } from './licences.ts';

const under = (licence: string, name = 'thing') => unaccepted({ [licence]: [{ name, versions: ['1.0.0'] }] });

test('every part of a licence must be accepted', () => {
  expect(under('MIT')).toEqual([]);
  expect(under('(Apache-2.0 AND BSD-3-Clause)')).toEqual([]);
  expect(under('(MIT OR GPL-3.0)')).toEqual(['thing is under (MIT OR GPL-3.0), which nobody accepted.']);
  expect(under('Unknown')).toHaveLength(1);
});

test('what is accepted for one package is accepted for no other', () => {
  expect(under('LGPL-3.0+', 'openpgp')).toEqual([]);
  expect(under('LGPL-3.0+')).toHaveLength(1);
});
