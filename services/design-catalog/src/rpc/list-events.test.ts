// How a list of Events is cut into messages: none is larger than a client accepts, and none is lost.
import type { IncomingCall } from '@course-exchange/runtime/incoming-call';
import { expect, test } from 'vitest';
import type { Owner } from '../domain/ids.ts';
import type { EventSummary } from '../domain/summaries.ts';
import { listEventsHandler } from './list-events.ts';

async function sizesOf(names: readonly string[]): Promise<number[]> {
  const events = names.map((name, index) => ({ eventId: String(index), name }) as unknown as EventSummary);
  const list = listEventsHandler({
    authenticate: async () => 'owner' as Owner,
    listEvents: async () => events,
    listed: () => {},
  });
  const sizes: number[] = [];
  const seen: (string | undefined)[] = [];
  for await (const part of list({} as never, {} as IncomingCall)) {
    sizes.push(part.events?.length ?? 0);
    seen.push(...(part.events ?? []).map(({ name }) => name));
  }
  expect(seen).toEqual(names);
  return sizes;
}

test('usual Events go 256 to a message', async () => {
  expect(await sizesOf([])).toEqual([]);
  expect(await sizesOf(Array(256).fill('x'))).toEqual([256]);
  expect(await sizesOf(Array(600).fill('x'))).toEqual([256, 256, 88]);
});

test('long names go by their bytes, one at a time where one alone is too long', async () => {
  expect(await sizesOf(Array(40).fill('é'.repeat(32_000)))).toEqual([16, 16, 8]);
  expect(await sizesOf(['x', 'y'.repeat(2_000_000), 'z'])).toEqual([1, 1, 1]);
});
