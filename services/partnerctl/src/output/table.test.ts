import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { type Columns, fields, fromNow, localTime, table } from './table.ts';

const plain = (values: Parameters<typeof fields>[0]) => stripVTControlCharacters(fields(values));

test('columns are aligned by what a reader sees, numbers to the right', () => {
  const rows = [
    { name: 'Zoë', count: 5 },
    { name: 'a long name', count: 500 },
  ];
  const columns: Columns<(typeof rows)[number]> = { NAME: ({ name }) => name, COUNT: ({ count }) => count };
  expect(stripVTControlCharacters(table(rows, columns, 'None.'))).toBe(
    ['NAME         COUNT', 'Zoë              5', 'a long name    500', ''].join('\n'),
  );
  expect(table([], columns, 'None.')).toBe('None.\n');
});

test('values of several lines stay in their column, absent ones are left out', () => {
  expect(plain({ 'Redirect URIs': ['a', 'b'], None: undefined, Empty: [], Blank: '' })).toBe(
    'Redirect URIs  a\n               b\nEmpty          –\nBlank          –\n',
  );
});

test('times carry their zone, lengths of time their largest unit', () => {
  expect(localTime(new Date('2026-11-20T12:00:00Z'))).toMatch(/^2026-11-\d\d \d\d:\d\d:00 \S+$/);
  expect(localTime(undefined)).toBe('–');
  const from = (seconds: number) => fromNow(new Date(seconds * 1000), new Date(0));
  expect([59, 61, 7200, 90_000].map(from)).toEqual([
    'in 59 seconds',
    'in 1 minute',
    'in 2 hours',
    'in 1 day',
  ]);
  expect(from(-200_000)).toBe('2 days ago');
});
