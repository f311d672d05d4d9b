import { expect, test } from 'vitest';
import { type DesignChangeFields, designChangeProblem } from './design-change.ts';

const design = { title: 't', eventName: 'n', shortDescr: '' };
const upsert = { owner: 'u', id: 'd', revision: 1n, change: { case: 'upsert', value: design } } as const;
const deletion = { owner: 'u', id: 'd', revision: 1n, change: { case: 'deletion', value: {} } } as const;

function upsertWith(fields: object): DesignChangeFields {
  return { ...upsert, change: { case: 'upsert', value: { ...design, ...fields } } };
}

test('a design with what it must have passes, and so does one with all it may have', () => {
  expect(designChangeProblem(upsert)).toBeUndefined();
  expect(designChangeProblem(deletion)).toBeUndefined();
  const whole = {
    localId: '😀'.repeat(1000),
    eventId: 'é'.repeat(256),
    eventDate: '2026-05-01T00:00:00Z',
    updatedAt: '2026-05-01T09:30:00.25+02:00',
    authorName: '',
    shortDescr: '😀'.repeat(2000),
  };
  expect(designChangeProblem(upsertWith(whole))).toBeUndefined();
});

test.each<[DesignChangeFields, string]>([
  [{ ...upsert, owner: '' }, 'owner is missing.'],
  [{ ...upsert, id: '' }, 'id is missing.'],
  [{ ...upsert, revision: 0n }, 'revision is missing: it is a whole number, 1 or more.'],
  [{ ...upsert, change: { case: undefined } }, 'it is neither an upsert nor a deletion.'],
  [{ ...upsert, owner: 'u'.repeat(256) }, 'owner is longer than 255 bytes.'],
  [{ ...deletion, id: 'é'.repeat(257) }, 'id is longer than 512 bytes.'],
  [upsertWith({ eventId: 'e'.repeat(513) }), 'eventId is longer than 512 bytes.'],
  [upsertWith({ localId: '😀'.repeat(1001) }), 'localId is longer than 1000 characters.'],
  [upsertWith({ title: 't'.repeat(1001) }), 'title is longer than 1000 characters.'],
  [upsertWith({ eventName: 'n'.repeat(1001) }), 'eventName is longer than 1000 characters.'],
  [upsertWith({ authorName: 'a'.repeat(1001) }), 'authorName is longer than 1000 characters.'],
  [upsertWith({ shortDescr: 's'.repeat(2001) }), 'shortDescr is longer than 2000 characters.'],
  [upsertWith({ title: 'a\0b' }), 'title holds the character U+0000, which cannot be stored.'],
  [upsertWith({ authorName: '\ud800' }), 'authorName holds half of a surrogate pair: it is not Unicode.'],
  [upsertWith({ eventDate: '2026-02-30T00:00:00Z' }), 'eventDate is not a time such as 2026-05-01T09:30:00Z'],
  [upsertWith({ updatedAt: 'yesterday' }), 'updatedAt is not a time such as 2026-05-01T09:30:00Z'],
  [{ ...deletion, change: { case: 'deletion', value: { deletedAt: '' } } }, 'deletedAt is not a time'],
])('a mistake is one sentence (case %#)', (change, sentence) => {
  expect(designChangeProblem(change)).toContain(sentence);
});
