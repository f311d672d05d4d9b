import { FeedService } from '@course-exchange/proto/feed/v1';
import { expect, test } from 'vitest';
import { runAgainst } from '../../testing/run.ts';

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
