import { expect, test } from 'vitest';
import { suiteNames } from '../run/suites.ts';
import { read, tableRows } from './documents.ts';

test('test/README.md lists every suite, in the order of the run', () => {
  const [suites = ''] = read('test/README.md').split('\n## ');
  expect(tableRows(suites).map(([name]) => name)).toEqual(suiteNames.map((name) => `\`${name}\``));
});
