// The data volume as design-catalog counts it and partnerctl computes it, of a set that is small enough to count by hand.
import { createLogger } from '@course-exchange/runtime/process/logger';
import { beforeAll, expect, test } from 'vitest';
import type { Owner } from '../../services/design-catalog/src/events/event.ts';
import { listEvents } from '../../services/design-catalog/src/events/event-table.ts';
import { measureVolume } from '../../services/design-catalog/src/feed/volume.ts';
import { volumeOf } from '../../services/partnerctl/src/designs/volume.ts';
import { useCatalogDatabase } from './postgres.ts';

const { writer, reader, feed } = await useCatalogDatabase();

// a: Events of 501 designs and of 2; b: of 500; c: of 1. d has no Event.
beforeAll(async () => {
  await writer.query(`insert into designs (owner, id, event_id, deleted_at)
    select owner, concat(event, '-', n), event, case when n > kept then now() end
    from (values ('a', 'large', 501, 503), ('a', 'two', 2, 4), ('a', 'deleted', 0, 3), ('b', 'full', 500, 500),
      ('c', 'one', 1, 2), ('c', '', 3, 3), ('d', null, 3, 3), ('d', 'gone', 0, 1))
      as groups (owner, event, kept, stored)
    cross join lateral generate_series(1, stored) n`);
});

/** `owners`: empty for all. The service counts two at a time. */
async function volume(...owners: readonly string[]) {
  const deps = { database: feed, logger: createLogger('test', 'error', () => {}), now: Date.now };
  const parts = await Array.fromAsync(measureVolume(deps, owners as Owner[], 2));
  const frequencies = (counts: ReadonlyMap<number, number>) =>
    [...counts].map(([value, count]) => ({ value, count }));
  return volumeOf(
    parts.map(({ eventsPerOwner, designsPerEvent, longestList }) => ({
      eventsPerOwner: frequencies(eventsPerOwner),
      designsPerEvent: frequencies(designsPerEvent),
      longestList,
    })),
  );
}

test('the volume counts all users, also those whose designs are deleted or in no Event', async () => {
  const { json } = await listEvents(reader, 'a' as Owner);
  expect(await volume()).toEqual({
    users: 3,
    events: 4,
    designs: 1004,
    eventsPerUser: { median: 1, p95: 2, p99: 2, largest: 2 },
    designsPerEvent: { median: 2, p95: 501, p99: 501, largest: 501 },
    eventsOver500: 1,
    designsNeverSeen: 1,
    longestList: { events: 2, bytes: Buffer.byteLength(json), milliseconds: expect.any(Number) },
  });
});

test('the volume counts the users who are named; zeros when none of them has an Event', async () => {
  expect(await volume('d', 'nobody', 'b', 'none', 'c')).toMatchObject({
    ...{ users: 2, events: 2, designs: 501, eventsOver500: 0, designsNeverSeen: 0 },
    longestList: { events: 1 },
  });
  expect(await volume('d', 'nobody')).toMatchObject({
    ...{ users: 0, events: 0, designs: 0 },
    eventsPerUser: { median: 0, largest: 0 },
    longestList: { events: 0, bytes: 0, milliseconds: 0 },
  });
});
