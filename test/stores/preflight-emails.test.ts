// What identity's migration job says of users who share an e-mail address in different spellings.
import { randomBytes } from 'node:crypto';
import { pseudonym } from '@course-exchange/runtime/process/logger';
import { Secret } from '@course-exchange/runtime/process/secret';
import { expect, test } from 'vitest';
import { accountsFor, runJob, useJobDatabase } from './postgres.ts';

const database = await useJobDatabase();
const key = randomBytes(32);
const secrets = { KEY_ENCRYPTION_KEY: key.toString('base64url'), USER_HASH_KEY: key.toString('base64url') };
const run = (changed = {}, ...words: string[]) =>
  runJob('identity', { ...accountsFor(database).identity, ...secrets, ...changed }, ...words);

test('they are named by their hash in logs, 20 addresses at most, and only there', async () => {
  expect((await run()).said('check warns')).toEqual([]);
  const spelled = (name: string, host: string) => `insert into identity.users (sub, email, password_hash)
    select '${name}' || n, n || '@${host}.example', '-' from generate_series(1, 21) n`;
  await database.sql(`${spelled('a', 'bücher')}; ${spelled('b', 'xn--bcher-kva')}; ${spelled('c', 'other')}`);
  const { code, said, output } = await run();
  expect([code, said('check warns')]).toEqual([0, [expect.stringMatching(/from now on: 21 \(.*, …\)\./)]]);
  const hashOf = (sub: string) => pseudonym(new Secret(key), sub);
  expect(output).toContain(`${hashOf('a1')} and ${hashOf('b1')}`);
  expect(output).not.toMatch(/cher|undefined/);
  const unnamed = await run({ USER_HASH_KEY: '' }, '--report');
  expect(unnamed.said('check warns')).toEqual([expect.stringContaining('from now on: 21. Each')]);
});
