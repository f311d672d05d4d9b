import { maxIdBytes } from '@course-exchange/rules/design-change';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { publicEventId, type StoredEventId, storedEventId } from './event.ts';
import { isoTime } from './event-table.ts';

/** Every text that Postgres can hold as an identifier. */
const stored = fc
  .string({ unit: 'binary', minLength: 1, maxLength: 120 })
  .filter((text) => !text.includes('\0') && Buffer.byteLength(text) <= maxIdBytes);

test('every stored identifier comes back from its public form, which needs no escaping in a path [R22.8]', () => {
  fc.assert(
    fc.property(stored, (text) => {
      const id = publicEventId(text as StoredEventId);
      expect(encodeURIComponent(id)).toBe(id);
      expect(storedEventId(id)).toBe(text);
    }),
  );
});

test('whatever is accepted is exactly what would be issued for it (R20.3)', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.base64String(), fc.stringMatching(/^[A-Za-z0-9_-]*$/)), (text) => {
      const accepted = storedEventId(text);
      if (accepted !== undefined) expect(publicEventId(accepted)).toBe(text);
    }),
  );
});

test('the longest identifier passes and one byte more does not (R20.3)', () => {
  const longest = 'x'.repeat(maxIdBytes) as StoredEventId;
  expect(storedEventId(publicEventId(longest))).toBe(longest);
  expect(storedEventId(publicEventId(`${longest}x` as StoredEventId))).toBeUndefined();
  expect(storedEventId('A'.repeat(100_000))).toBeUndefined();
});

test.each([
  ['nothing', ''],
  ['padding', 'ZQ=='],
  ['the other base64 alphabet', '_-8+'],
  ['bits that do not belong', 'ZR'],
  ['a length that base64 does not have', 'Z'],
  ['a NUL', Buffer.from('a\0b').toString('base64url')],
  ['what is not UTF-8', Buffer.from([0xff, 0xfe, 0x41]).toString('base64url')],
  ['a surrogate alone', Buffer.from([0xed, 0xa0, 0x80]).toString('base64url')],
  ['white space', 'ZQ ='],
  ['a line end', 'ZXZ0\n'],
])('%s is no id of ours [R20.3]', (_what, text) => {
  expect(storedEventId(text)).toBeUndefined();
});

test('microseconds are cut off, and an absent time stays so [R23.2]', () => {
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
