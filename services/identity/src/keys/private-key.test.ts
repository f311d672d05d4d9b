import { randomBytes } from 'node:crypto';
import { Secret } from '@course-exchange/runtime/process/secret';
import { expect, test } from 'vitest';
import { generateSigningKey } from './private-key.ts';

test('no kid begins with a dash, which partnerctl would take for an option', async () => {
  const deps = { keyEncryptionKey: new Secret(randomBytes(32)), randomBytes };
  // One in 64 would.
  const keys = await Promise.all(Array.from({ length: 400 }, () => generateSigningKey(deps, 'ES256')));
  expect(keys.filter(({ kid }) => kid.startsWith('-'))).toEqual([]);
});
