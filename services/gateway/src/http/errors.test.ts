// The table from codes to statuses (specification §7, R1, R7, R14, R21).
import { expect, test } from 'vitest';
import { errorReply } from './errors.ts';

test('an unknown code is a server_error that says nothing (R14)', () => {
  for (const code of ['connection to 10.0.0.1 refused', '__proto__', 'toString'])
    expect(errorReply(code, 'token', undefined)).toMatchObject({
      status: 500,
      body: '{"error":"server_error"}',
    });
});
