import { Code, ConnectError } from '@connectrpc/connect';
import { operatorErrorStatuses } from '@course-exchange/rules/error-codes';
import { expect, test } from 'vitest';
import { errorText, toCliError } from './error-text.ts';

const here = () => 'here';

test('every code of the wire has a text, and none besides', () => {
  expect(Object.keys(errorText).sort()).toEqual(Object.keys(operatorErrorStatuses).sort());
});

test('the service’s sentences are printed, one mistake per line, with the time when it becomes possible', () => {
  const trailers = {
    'error-code': 'refused_until',
    'error-detail': encodeURIComponent('The key is too young.\nIt was published just now.'),
    'error-possible-at': '2026-11-20T12:05:00Z',
  };
  expect(toCliError(new ConnectError('x', Code.FailedPrecondition, trailers), here)).toMatchObject({
    message: 'The key is too young.',
    exit: 'early',
    details: {
      mistakes: ['It was published just now.'],
      advice: expect.stringContaining('Possible from 2026-11-20'),
      code: 'refused_until',
    },
  });
});

test.each([
  [Code.Unavailable, 'unreachable'],
  [Code.DeadlineExceeded, 'unreachable'],
  [Code.Unimplemented, 'refused'],
  [Code.Canceled, 'unreachable'],
])('the status %s without a code of ours ends with %s', (status, exit) => {
  expect(toCliError(new ConnectError('x', status), here)).toMatchObject({ exit });
});

test('a broken detail is left out rather than believed', () => {
  const trailers = { 'error-code': 'conflict', 'error-detail': '%zz' };
  expect(toCliError(new ConnectError('x', Code.Aborted, trailers), here)).toMatchObject({
    message: 'Somebody else changed it.',
  });
});
