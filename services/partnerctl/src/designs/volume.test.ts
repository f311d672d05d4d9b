import { FeedService } from '@course-exchange/proto/feed/v1';
import { ApprovalState, ClientService } from '@course-exchange/proto/operator/v1/client';
import { ConsentService } from '@course-exchange/proto/operator/v1/consent';
import { expect, test } from 'vitest';
import { runAgainst } from '../../testing/run.ts';
import { volumeOf } from './volume.ts';

/** An answer in which each of these occurs once. */
function part(events: readonly number[], designs: readonly number[] = []) {
  const once = (value: number) => ({ value, count: 1 });
  return { eventsPerOwner: events.map(once), designsPerEvent: designs.map(once) };
}

test('quantiles are by the nearest rank over all answers, in whichever order they come', () => {
  const [low, high] = [part([1, 3, 5, 7, 9]), part([10, 8, 6, 4, 2])];
  expect(volumeOf([low, high]).eventsPerUser).toEqual({ median: 5, p95: 10, p99: 10, largest: 10 });
  expect(volumeOf([high, low])).toEqual(volumeOf([low, high]));
  const hundred = Array.from({ length: 100 }, (_, index) => part([index + 1]));
  expect(volumeOf(hundred).eventsPerUser).toEqual({ median: 50, p95: 95, p99: 99, largest: 100 });
});

test('an event of 500 designs is seen whole; designs beyond these are not', () => {
  expect(volumeOf([part([], [500, 501]), part([], [700])])).toMatchObject({
    ...{ events: 3, designs: 1701, eventsOver500: 2, designsNeverSeen: 201 },
  });
});

test('the longest list is the one with the most events in any answer', () => {
  const lists = [3, 7, 5].map((events) => ({ events, bytes: 10 * events, milliseconds: 1 }));
  const parts = lists.map((longestList) => ({ ...part([]), longestList }));
  expect(volumeOf(parts).longestList).toEqual({ events: 7, bytes: 70, milliseconds: 1 });
});

test('only the users of a client are asked for, page by page, and each once', async () => {
  const asked: string[][] = [];
  const pages = [['ann', 'bo'], [], ['bo', 'cy']];
  const { exit, out } = await runAgainst(
    (router) => {
      router.service(ConsentService, {
        listConsents: ({ clientId, pageToken }) => {
          expect(clientId).toBe('acme');
          const at = Number(pageToken);
          const consents = pages[at]?.map((sub) => ({ sub })) ?? [];
          return { consents, nextPageToken: at + 1 < pages.length ? `${at + 1}` : '' };
        },
      });
      router.service(FeedService, {
        async *measureVolume({ owners }) {
          asked.push(owners);
          yield { eventsPerOwner: [{ value: 2, count: owners.length }] };
        },
      });
    },
    ['designs', 'volume', '--client', 'acme', '--json'],
  );
  expect({ exit, asked }).toEqual({ exit: 0, asked: [['ann', 'bo'], ['cy']] });
  expect(JSON.parse(out)).toMatchObject({ users: 3 });
});

test('the text shows the shares', async () => {
  const { out } = await runAgainst(
    (router) =>
      router.service(FeedService, {
        async *measureVolume() {
          yield part([4], [100, 100, 100, 700]);
        },
      }),
    ['designs', 'volume'],
  );
  expect(out).toContain('Events with more than 500 designs  1 (25.00 %)');
  expect(out).toContain('Designs beyond the 500             200 (20.00 %)');
});

test.each([
  { options: [], approvalState: ApprovalState.TEST, measured: false },
  { options: ['--volume-confirmed'], approvalState: ApprovalState.TEST, measured: true },
  { options: ['--volume-confirmed'], approvalState: ApprovalState.DRAFT, measured: false },
])('approve $options from state $approvalState sends figures: $measured', async (given) => {
  const sent: unknown[] = [];
  const { exit } = await runAgainst(
    (router) => {
      router.service(ClientService, {
        describeInstallation: () => ({}),
        getClient: () => ({ client: { approvalState: given.approvalState } }),
        setApprovalState: ({ confirmedVolume }) => {
          sent.push(confirmedVolume?.users);
          return {};
        },
      });
      router.service(FeedService, {
        async *measureVolume() {
          yield part([1, 2]);
        },
      });
    },
    ['client', 'approve', 'acme', ...given.options],
  );
  expect({ exit, sent }).toEqual({ exit: 0, sent: [given.measured ? 2 : undefined] });
});
