import { FeedService } from '@course-exchange/proto/feed/v1';
import { expect, test } from 'vitest';
import { runCommand } from '../../../testing/command-run.ts';
import { designsNoun } from './designs.ts';

test.each([
  { repair: false, dryRun: false, mended: false },
  { repair: true, dryRun: false, mended: true },
  { repair: true, dryRun: true, mended: false },
  { repair: false, dryRun: true, mended: false },
])('verify with repair $repair and dry run $dryRun asks for mending: $mended', async (given) => {
  const asked: boolean[] = [];
  const verify = designsNoun.commands.find(({ name }) => name === 'verify');
  if (!verify || 'commands' in verify) throw new Error('There is no such command.');
  const options = given.repair ? { repair: ['true'] } : {};
  await runCommand(
    verify,
    (router) =>
      router.service(FeedService, {
        async *verify({ repair }) {
          asked.push(repair);
          yield {};
        },
      }),
    { options, dryRun: given.dryRun },
  );
  expect(asked).toEqual([given.mended]);
});
