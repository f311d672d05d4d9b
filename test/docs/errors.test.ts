import { type ErrorCode, errorStatuses } from '@course-exchange/proto/error-codes';
import { describe, expect, test } from 'vitest';
import { errorReply } from '../../services/gateway/src/error-reply.ts';
import { redirectedErrors } from '../../services/identity/src/domain/authorization-answer.ts';
import { codeSpans, section, tableRows } from './documents.ts';

const rows = tableRows(section('docs/errors.md', '## Codes'));
const bare = (cell = '') => cell.replaceAll('`', '');
const codes = Object.keys(errorStatuses) as ErrorCode[];

describe('docs/errors.md', () => {
  test('lists exactly the codes that cross gRPC, each with its status', () => {
    expect(rows.map(([code, status]) => [bare(code), Number(status)])).toEqual(Object.entries(errorStatuses));
  });

  test.each(codes.filter((code) => code !== 'access_denied'))('names the HTTP statuses of %s', (code) => {
    const [, , documented = ''] = rows.find(([written]) => bare(written) === code) ?? [];
    const surfaces = code === 'invalid_client' ? (['token', 'page'] as const) : (['token'] as const);
    const answered = surfaces.map((surface) => errorReply(code, surface, undefined).status);
    const numbers = [...documented.matchAll(/\b[1-5]\d\d\b/g)].map(([status]) => Number(status));
    expect(numbers.sort()).toEqual(answered.sort());
  });

  test('lists exactly the errors that a redirect may carry', () => {
    const listed = tableRows(section('docs/errors.md', '## Redirects')).map(([code]) => bare(code));
    expect(listed).toEqual([...redirectedErrors]);
  });
});

test('docs/partner-guide.md tells what to do for every code, and for none that there is not', () => {
  const guide = section('docs/partner-guide.md', '## Errors');
  const named = codeSpans(
    tableRows(guide)
      .map(([code]) => code)
      .join('\n'),
  );
  const told = named.filter((code) => /^[a-z]+(_[a-z]+)+$/.test(code));
  // A partner tells the two of 5xx by their status.
  const expected = codes.filter((code) => code !== 'server_error' && code !== 'temporarily_unavailable');
  const known = new Set([...expected, ...redirectedErrors, 'method_not_allowed']);
  expect([...new Set(told)].sort()).toEqual([...known].sort());
});
