import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { bar, type Columns, fields, fromNow, localTime, span, table } from './table.ts';

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

test('a name cannot control the terminal', () => {
  expect(plain({ Name: 'Acme\u001b[2J\u0007\u202e' })).toBe('Name  Acme�[2J��\n');
});

test('values of several lines stay in their column, absent ones are left out', () => {
  expect(plain({ 'Redirect URIs': ['a', 'b'], None: undefined, Empty: [], Blank: '' })).toBe(
    'Redirect URIs  a\n               b\nEmpty          –\nBlank          –\n',
  );
});

test('times carry their zone, lengths of time their largest unit', () => {
  expect(localTime(new Date('2026-11-20T12:00:00Z'))).toMatch(/^2026-11-\d\d \d\d:\d\d:00 \S+$/);
  expect(localTime(undefined)).toBe('–');
  expect([59, 61, 7200, 90_000, 200_000].map(span)).toEqual([
    '59 seconds',
    '1 minute',
    '2 hours',
    '1 day',
    '2 days',
  ]);
  const now = new Date('2026-11-20T12:00:00Z');
  expect(fromNow(new Date('2026-11-20T12:05:00Z'), now)).toBe('in 5 minutes');
  expect(fromNow(new Date('2026-11-19T12:00:00Z'), now)).toBe('1 day ago');
});

test('a bar shows share, speed and what is left', () => {
  expect(bar('Users', 500, 1000, 10)).toBe(
    'Users [##############              ]  50 %  50/s  10 seconds left',
  );
  expect(bar('Users', 1000, 1000, 10)).toBe('Users [############################] 100 %  100/s');
  expect(bar('Users', 0, 0, 0)).toContain('100 %');
});
