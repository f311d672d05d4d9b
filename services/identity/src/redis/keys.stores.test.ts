// Every key that docs/redis-keys.md names is one that identity writes. The keys that it does not name:
// test/setup/own-stores.ts.
import { networksOf } from '@course-exchange/runtime/process/ip-address';
import { expect, test } from 'vitest';
import { documentedRedisKeys } from '../../../../test/docs/documents.ts';
import { answerOf, freshAddress, useAuthorization } from '../../../../test/stores/identity-authorization.ts';
import { serverOf } from '../../../../test/stores/redis-servers.ts';
import { submitConsent } from '../authorize/choices.ts';
import { admitLogin, recordLoginFailure } from '../login/throttle-store.ts';
import { redisProblem } from '../readiness.ts';

const { redis, deps, clock, beginForm, signIn, exchange } = await useAuthorization();

test('identity writes every key that the page names', async () => {
  await signIn(await beginForm());
  const decided = await submitConsent(deps, { ...(await signIn(await beginForm())), decision: 'allow' });
  await exchange(answerOf(decided).get('code') ?? '');
  for (const known of [{}, { knownDevice: 'browser' }]) {
    const attempt = { account: 'account', networks: networksOf(freshAddress()), ...known };
    await recordLoginFailure(redis, { ...attempt, id: 'failed' }, clock.now);
    await admitLogin(redis, { ...attempt, id: 'open' }, clock.now);
  }
  expect(await redisProblem(redis)).toBeUndefined();
  const unwritten = async () => {
    const keys = await serverOf(redis).keys('*');
    const missing = documentedRedisKeys().filter(({ pattern }) => !keys.some((key) => pattern.test(key)));
    return missing.map(({ pattern }) => pattern.source);
  };
  // Families are listed behind the answer.
  await expect.poll(unwritten).toEqual([]);
});
