import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isoTime } from './event-table.ts';

test('a time of Postgres becomes ISO 8601 in UTC with milliseconds [R23.2]', () => {
  expect(isoTime('2026-05-01 09:30:00+00')).toBe('2026-05-01T09:30:00.000Z');
  expect(isoTime('2026-05-01 09:30:00.2+00')).toBe('2026-05-01T09:30:00.200Z');
  expect(isoTime('0001-01-01 00:00:00.987654+00')).toBe('0001-01-01T00:00:00.987Z');
  expect(isoTime(null)).toBeNull();
});

test('every time with milliseconds is written as JavaScript writes it [R23.2]', () => {
  const years = { min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59.999Z') };
  fc.assert(
    fc.property(fc.date({ ...years, noInvalidDate: true }), (date) => {
      const written = date.toISOString();
      const fraction = written.slice(19, 23).replace(/0+$/, '').replace(/^\.$/, '');
      const postgres = `${written.slice(0, 10)} ${written.slice(11, 19)}${fraction}+00`;
      expect(isoTime(postgres)).toBe(written);
    }),
  );
});

test('another date style or zone is a fault, never a wrong time', () => {
  expect(() => isoTime('2026-05-01 09:30:00+02')).toThrow();
  expect(() => isoTime('Fri 01 May 2026')).toThrow();
});
