import { FeedService } from '@course-exchange/proto/feed/v1';
import { expect, test } from 'vitest';
import { runAgainst } from '../../testing/run.ts';
import { readDesignLine } from './import.ts';

test.each([
  { options: [], repairs: false },
  { options: ['--repair'], repairs: true },
  { options: ['--repair', '--dry-run'], repairs: false },
  { options: ['--dry-run'], repairs: false },
])('verify with $options asks the service to repair: $repairs', async ({ options, repairs }) => {
  const asked: boolean[] = [];
  const { exit } = await runAgainst(
    (router) =>
      router.service(FeedService, {
        async *verify({ repair }) {
          asked.push(repair);
          yield {};
        },
      }),
    ['designs', 'verify', ...options],
  );
  expect({ exit, asked }).toEqual({ exit: 0, asked: [repairs] });
});

const key = { owner: 'u', id: 'd', revision: 3 };

function read(fields: unknown) {
  return readDesignLine(JSON.stringify(fields), 7);
}

test('an upsert becomes a change at the position of its line; null and absent are the same', () => {
  const value = { title: 't', eventName: '', shortDescr: '', eventId: 'e' };
  for (const absent of [{}, { authorName: null, eventName: null }])
    expect(read({ op: 'upsert', ...key, title: 't', eventId: 'e', ...absent })).toEqual({
      change: { position: 7n, owner: 'u', id: 'd', revision: 3n, change: { case: 'upsert', value } },
    });
});

test.each([{}, { deletedAt: '2026-05-01T00:00:00Z' }])('a delete carries its time or none: %j', (value) => {
  expect(read({ op: 'delete', ...key, ...value }).change?.change).toEqual({ case: 'deletion', value });
});

test('a revision may be a number that JSON holds exactly, or digits in quotes up to 64 bits', () => {
  const revision = (value: unknown) => {
    const { change, reason } = read({ op: 'delete', ...key, revision: value });
    return change?.revision ?? reason;
  };
  expect(revision(Number.MAX_SAFE_INTEGER)).toBe(9007199254740991n);
  expect(revision('18446744073709551615')).toBe(18446744073709551615n);
  expect(revision(2 ** 53)).toBe('revision is too large for a JSON number: write it in quotes.');
  for (const wrong of [0, -1, 1.5, '18446744073709551616', '1e3', '', true])
    expect([wrong, revision(wrong)]).toEqual([
      wrong,
      expect.stringContaining('is not a whole number from 1 to'),
    ]);
});

test('a text that is too long rejects the line and says which [R23.5]', () => {
  const { reason } = read({ op: 'upsert', ...key, shortDescr: 'x'.repeat(2_001) });
  expect(reason).toBe('shortDescr is longer than 2000 characters.');
});

test.each([
  ['{"op":', 'It is not valid JSON.'],
  ['[]', 'It is not a JSON object.'],
  ['null', 'It is not a JSON object.'],
  ['{}', 'op is neither "upsert" nor "delete".'],
  ['{"op":"upsert","titel":"t"}', '"titel" is not a field of an upsert.'],
  ['{"op":"delete","title":"t"}', '"title" is not a field of a delete.'],
  ['{"op":"upsert","__proto__":"t"}', '"__proto__" is not a field of an upsert.'],
  ['{"op":"upsert","title":1}', 'title is neither text nor null.'],
  ['{"op":"upsert","revision":1,"id":"d"}', 'owner is missing.'],
  ['{"op":"upsert","title":"\\ud800"}', 'title holds half of a surrogate pair: it is not Unicode.'],
  ['{"op":"upsert","owner":"u","id":"d"}', 'revision is missing: it is a whole number, 1 or more.'],
])('%s: %s', (text, reason) => {
  expect(readDesignLine(text, 1)).toEqual({ reason });
});
