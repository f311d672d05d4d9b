import { Readable } from 'node:stream';
import { Code, ConnectError } from '@connectrpc/connect';
import { ClientService } from '@course-exchange/proto/operator/v1/client';
import { expect, test } from 'vitest';
import { runAgainst } from '../../testing/run.ts';

test('mistakes that the service finds are reported beside those in the file, and nothing is registered', async () => {
  const dryRuns: boolean[] = [];
  const input = Readable.from(['clientId: acme\nnmae: Acme\nscopes: [all]\n']);
  const { exit, err } = await runAgainst(
    (router) =>
      router.service(ClientService, {
        registerClient: ({ dryRun }) => {
          dryRuns.push(dryRun);
          const detail = encodeURIComponent('The scope "all" is unknown.\nThere is no redirect URI.');
          const trailers = { 'error-code': 'invalid_argument', 'error-detail': detail };
          throw new ConnectError('', Code.InvalidArgument, trailers);
        },
      }),
    ['client', 'register', '-'],
    { input },
  );
  expect({ exit, dryRuns }).toEqual({ exit: 2, dryRuns: [true] });
  expect(err.split('\n')).toEqual([
    '- cannot be used.',
    expect.stringContaining('-:2: nmae is unknown'),
    '  - The scope "all" is unknown.',
    '  - There is no redirect URI.',
    '',
  ]);
});
