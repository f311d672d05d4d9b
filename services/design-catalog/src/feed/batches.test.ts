// Changes are gathered until they are enough, by their number or by their length.
import { expect, test } from 'vitest';
import type { Owner } from '../events/event.ts';
import { changeBatches } from './batches.ts';
import type { ChangeBatch } from './change.ts';

const texts = { title: 'long', eventName: '', eventDate: undefined, updatedAt: undefined, shortDescr: '' };

async function* parts(count: number): AsyncGenerator<ChangeBatch> {
  for (let position = 1n; position <= count; position += 1n) {
    const key = { position, owner: 'owner' as Owner, id: 'i', revision: 1n, deletedAt: undefined };
    yield { source: 's', changes: [{ ...key, design: texts }], last: false };
  }
}

test.each([
  ['the most changes', { changes: 2, characters: 1_000 }],
  ['the most characters', { changes: 1_000, characters: 10 }],
])('a batch ends with %s, and none is lost', async (_, limits) => {
  const batches = await Array.fromAsync(changeBatches(parts(5), { ...limits, waitMs: 60_000 }));
  expect(batches.map(({ changes }) => changes.length)).toEqual([2, 2, 1]);
});
