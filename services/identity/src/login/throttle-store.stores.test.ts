// The login defence in Redis, raced and timed by a clock that the tests set.
import { networksOf } from '@course-exchange/runtime/process/ip-address';
import { expect, test, vi } from 'vitest';
import {
  accepted,
  freshAddress,
  throttledFor,
  useAuthorization,
  wrongPassword,
} from '../../../../test/stores/identity-authorization.ts';
import { serverOf } from '../../../../test/stores/redis-servers.ts';
import { accountKey, accountThreshold, countersOf } from './throttle.ts';
import { admitLogin, recordLoginFailure } from './throttle-store.ts';

const guesses = 50;
const flow = await useAuthorization(guesses);
const { redis, clock, deps, browsers, beginForm, logIn } = flow;

test(`no more than five of ${guesses} guesses at once are verified [R30.1 R30.2]`, async () => {
  const [form, address] = [await beginForm(), freshAddress()];
  const verifyPassword = vi.fn(deps.verifyPassword);
  const outcomes = await Promise.all(
    browsers.map((one, i) => logIn(form, { typed: `guess ${i}`, address, by: { ...one, verifyPassword } })),
  );
  expect(verifyPassword).toHaveBeenCalledTimes(accountThreshold);
  const reasons = outcomes.map((outcome) => outcome.kind === 'rejected' && outcome.reason);
  expect(reasons.filter((reason) => reason === 'credentials')).toHaveLength(accountThreshold);
  expect(reasons.filter((reason) => reason === 'throttled')).toHaveLength(guesses - accountThreshold);
});

test('the delay doubles from 1 s to 60 s, also for the right password, in no other network [R30.2 R30.5 R30.8]', async () => {
  const [form, address] = [await beginForm(), freshAddress()];
  for (const seconds of [0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60]) {
    const wrong = await logIn(form, { typed: 'wrong', address });
    expect(wrong).toMatchObject(wrongPassword);
    if (seconds === 0) continue;
    expect(await logIn(form, { address })).toMatchObject(throttledFor(seconds));
    expect(await logIn(form)).toMatchObject(accepted);
    clock.now += seconds * 1000;
  }
  expect(await logIn(form, { address })).toMatchObject(accepted);
});

test('failures older than 15 minutes are forgotten', async () => {
  const [form, address] = [await beginForm(), freshAddress()];
  for (let i = 0; i < 4; i += 1) await logIn(form, { typed: 'wrong', address });
  clock.now += 15 * 60_000;
  expect(await logIn(form, { typed: 'wrong', address })).toMatchObject(wrongPassword);
  expect(await logIn(form, { address })).toMatchObject(accepted);
});

test('a success clears the account’s count, never the network’s own [R30.3 R30.7]', async () => {
  const [form, address] = [await beginForm(), freshAddress()];
  for (let i = 0; i < 4; i += 1) await logIn(form, { typed: 'wrong', address });
  await logIn(form, { address });
  const account = accountKey(deps.accountsKey.reveal(), flow.person.email);
  const [counters] = countersOf({ account, networks: networksOf(address) });
  const counts = counters.map(({ name }) => serverOf(redis).zcard(`login-failures:${name}`));
  expect(await Promise.all(counts)).toEqual([0, 4, 4, 4]);
});

test.each([
  ['a /24', 50, () => '198.51.100.7', '198.51.100.8', '198.51.101.8'],
  ['a /64', 50, () => '2001:db8:a:1::7', '2001:db8:a:1::8', '2001:db8:a:2::8'],
  [
    'a /56',
    150,
    (i: number) => `2001:db8:b:${(i % 100).toString(16)}::`,
    '2001:db8:b:ff::',
    '2001:db8:b:100::',
  ],
  [
    'a /48',
    400,
    (i: number) => `2001:db8:c:${(i % 200).toString(16)}00::`,
    '2001:db8:c:fff::',
    '2001:db8:d::',
  ],
])(
  '%s: %i failures delay all its accounts, and no other network [R30.7 R30.10]',
  async (_, most, from, inside, outside) => {
    const form = await beginForm();
    for (let i = 0; i < most + 20; i += 1) {
      const attempt = { id: `${i}`, account: `account-${i}`, networks: networksOf(from(i)) };
      if (i < most)
        expect(await admitLogin(deps.redis, attempt, clock.now)).toBe(i === 0 ? 'admitted' : 'suspect');
      await recordLoginFailure(deps.redis, attempt, clock.now);
      if (i !== most - 1) continue;
      expect(await logIn(form, { address: inside })).toMatchObject(throttledFor(1));
      expect(await logIn(form, { address: outside })).toMatchObject(accepted);
    }
    const counter = countersOf({ account: '', networks: networksOf(inside) })[0].find(
      ({ threshold }) => threshold === most,
    );
    expect(await serverOf(redis).zcard(`login-failures:${counter?.name}`)).toBe(most + 10);
    clock.now += 60_000;
    expect(await logIn(form, { address: inside })).toMatchObject(accepted);
  },
);

test('a network with failures leaves half of the hashing queue to those without', async () => {
  const verifyPassword = vi.fn(deps.verifyPassword);
  const by = { ...deps, verifyPassword };
  const [form, address] = [await beginForm(), freshAddress()];
  await logIn(form, { typed: 'wrong', address, by });
  await logIn(form, { typed: 'wrong', address, by });
  await logIn(form, { address: freshAddress(), by });
  expect(verifyPassword.mock.calls.map(([{ isSuspect }]) => isSuspect)).toEqual([false, true, false]);
});

test('an attempt without a verdict clears no failures, counts for none and releases its permit [R14.5 R30.1 R30.2]', async () => {
  const [form, address] = [await beginForm(), freshAddress()];
  const full = { ...deps, verifyPassword: () => Promise.reject(new Error('full')) };
  const failAgain = () => logIn(form, { typed: 'wrong', address });
  for (let i = 0; i < accountThreshold - 1; i += 1) await failAgain();
  await expect(logIn(form, { address, by: full })).rejects.toThrow('full');
  expect(await failAgain()).toMatchObject(wrongPassword);
  const refused = throttledFor(1);
  expect(await logIn(form, { address })).toMatchObject(refused);
  expect(await logIn(form, { address })).toMatchObject(refused);
  clock.now += 1000;
  expect(await failAgain()).toMatchObject(wrongPassword);
  expect(await logIn(form, { address })).toMatchObject({ retryAfterSeconds: 2 });
});

test('an attempt that a crash left open releases its permit after 15 s', async () => {
  const networks = networksOf(freshAddress());
  const attempts = Array.from({ length: 6 }, (_, i) => ({ id: `${i}`, account: 'a', networks }));
  const kinds = [];
  for (const attempt of attempts) kinds.push(await admitLogin(deps.redis, attempt, clock.now));
  expect(kinds).toEqual([...Array(5).fill('admitted'), 'busy']);
  const late = { id: 'late', account: 'a', networks };
  expect(await admitLogin(deps.redis, late, clock.now + 15_000)).toBe('admitted');
});
