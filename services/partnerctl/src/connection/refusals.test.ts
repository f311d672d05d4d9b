import { Code, ConnectError } from '@connectrpc/connect';
import { operatorErrorStatuses } from '@course-exchange/proto/operator-error-codes';
import { expect, test } from 'vitest';
import { meanings, problemOf } from './refusals.ts';

const here = () => 'here';

test('every code of the wire has a meaning, and none besides', () => {
  expect(Object.keys(meanings).sort()).toEqual(Object.keys(operatorErrorStatuses).sort());
});

test('the sentences of the service are told, each mistake on a line, and when it becomes possible', () => {
  const trailers = {
    'error-code': 'refused_until',
    'error-detail': encodeURIComponent('The key is too young.\nIt was published just now.'),
    'error-possible-at': '2026-11-20T12:05:00Z',
  };
  expect(problemOf(new ConnectError('x', Code.FailedPrecondition, trailers), here)).toMatchObject({
    message: 'The key is too young.',
    mistakes: ['It was published just now.'],
    advice: expect.stringContaining('Possible from 2026-11-20'),
    exit: 'early',
    code: 'refused_until',
  });
});

test.each([
  [Code.Unavailable, 'unreachable'],
  [Code.DeadlineExceeded, 'unreachable'],
  [Code.Unimplemented, 'refused'],
  [Code.Canceled, 'interrupted'],
])('the status %s without a code of ours ends with %s', (status, exit) => {
  expect(problemOf(new ConnectError('x', status), here)).toMatchObject({ exit });
});

test('a broken detail is left out rather than believed', () => {
  const trailers = { 'error-code': 'conflict', 'error-detail': '%zz' };
  expect(problemOf(new ConnectError('x', Code.Aborted, trailers), here)).toMatchObject({
    message: 'Somebody changed it meanwhile.',
  });
});
