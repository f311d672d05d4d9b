// The table from codes to statuses (specification §7, R1, R7, R14, R21).
import { errorStatuses } from '@course-exchange/rules/error-codes';
import { expect, test } from 'vitest';
import { errorReply } from './errors.ts';

test('every code has a one-field body and its status', () => {
  for (const code of Object.keys(errorStatuses)) {
    const answer = errorReply(code, 'resource', undefined);
    expect(answer.body).toBe(JSON.stringify({ error: code }));
    expect(answer.status).toBeGreaterThanOrEqual(400);
  }
});

test('an unknown code is a server_error that says nothing (R14)', () => {
  for (const code of ['connection to 10.0.0.1 refused', '__proto__', 'toString'])
    expect(errorReply(code, 'token', undefined)).toMatchObject({
      status: 500,
      body: '{"error":"server_error"}',
    });
});

test('a client is challenged at the token endpoint and refused with 400 at the authorization endpoint (R1, R7)', () => {
  const token = errorReply('invalid_client', 'token', undefined);
  expect([token.status, token.headers['www-authenticate']]).toEqual([
    401,
    'Basic realm="token", charset="UTF-8"',
  ]);
  const direct = errorReply('invalid_client', 'page', undefined);
  expect([direct.status, direct.headers['www-authenticate']]).toEqual([400, undefined]);
});

test('a store that does not answer is 503 with Retry-After (R14)', () => {
  expect(errorReply('temporarily_unavailable', 'token', undefined)).toMatchObject({
    status: 503,
    headers: { 'retry-after': expect.stringMatching(/^[1-5]$/) },
  });
});
