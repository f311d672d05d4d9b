import { expect, test } from 'vitest';
import { bar } from './progress.ts';
import { fields, table } from './tables.ts';
import { fromNow, localTime, span } from './times.ts';

const plainly = (_: string, words: string) => words;

test('columns are aligned by what a reader sees, numbers to the right', () => {
  const rows = [
    { name: 'Zoë', count: 5 },
    { name: 'a long name', count: 500 },
  ];
  const columns = [
    { heading: 'NAME', show: ({ name }: (typeof rows)[number]) => name },
    { heading: 'COUNT', show: ({ count }: (typeof rows)[number]) => String(count), right: true },
  ];
  expect(table(rows, columns, plainly, 'None.')).toBe(
    ['NAME         COUNT', 'Zoë              5', 'a long name    500', ''].join('\n'),
  );
  expect(table([], columns, plainly, 'None.')).toBe('None.\n');
});

test('a name cannot steer the terminal', () => {
  const written = fields([['Name', 'Acme\u001b[2J\u0007\u202e']], plainly);
  expect(written).toBe('Name  Acme�[2J��\n');
});

test('values of several lines stay in their column, absent ones are left out', () => {
  expect(
    fields(
      [
        ['Redirect URIs', ['a', 'b']],
        ['None', undefined],
        ['Empty', []],
      ],
      plainly,
    ),
  ).toBe('Redirect URIs  a\n               b\nEmpty          –\n');
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
