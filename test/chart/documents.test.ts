// values.yaml documents every value, and the README says what it says.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { documentedValues, valuesText } from './documented-values.ts';
import { readme, readmePath } from './readme.ts';

test('every value has a comment that begins with `# --`', () => {
  const { values, silent } = documentedValues(valuesText);
  expect(silent).toEqual([]);
  expect(values.length).toBeGreaterThan(100);
});

test("the README's tables are those of values.yaml; `npx --yes pnpm@12 chart:renew` writes them", () => {
  expect(readFileSync(readmePath, 'utf8')).toBe(readme());
});

test('a value is found with its comment, its default and its remark', () => {
  const text = `
# Of the whole chart.

# -- One
# and a half.
one: ""
# Two things.
two:
  # -- First.
  first: { a: 1 }
  second: 2
`;
  expect(documentedValues(text)).toEqual({
    values: [
      { path: ['one'], says: 'One and a half.', preset: '' },
      { path: ['two', 'first'], says: 'First.', preset: { a: 1 } },
    ],
    remarks: new Map([['two', 'Two things.']]),
    silent: ['two.second'],
  });
});
