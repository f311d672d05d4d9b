// The budget of failures that an account has over all networks, and who is known to it and so not held back (R30.11, R30.12), in a
// real Redis by a clock that the tests set.

import { networksOf } from '@course-exchange/runtime/process/ip-address';
import { beforeEach, expect, test, vi } from 'vitest';
import {
  accepted,
  freshAddress,
  type Person,
  throttled,
  throttledFor,
  useAuthorization,
  wrongPassword,
} from '../../../../test/stores/identity-authorization.ts';
import { anna, dry, openOperatorContext } from '../../../../test/stores/operator-context.ts';
import { serverOf } from '../../../../test/stores/redis-servers.ts';
import type { PresentedForm } from '../authorize/form.ts';
import { unthrottleUser } from '../users/admin.ts';
import { accountKey, accountThreshold } from './throttle.ts';
import {
  admitLogin,
  clearFailures,
  findKnownOrigins,
  recordLoginFailure,
  rememberOrigins,
} from './throttle-store.ts';

const flow = await useAuthorization();
const { redis, clock, deps, addPerson, beginForm, logIn } = flow;
const dayMs = 24 * 60 * 60 * 1000;
let form: PresentedForm;
let failures = 0;

beforeEach(async () => {
  form = await beginForm();
});

const accountOf = ({ email }: Pick<Person, 'email'>) => accountKey(deps.accountsKey.reveal(), email);

/** Failures of the account, by default each from a separate network. */
async function fail(
  times: number,
  who: Pick<Person, 'email'> = flow.person,
  from = freshAddress,
): Promise<void> {
  for (let i = 0; i < times; i += 1) {
    failures += 1;
    const attempt = { id: `${failures}`, account: accountOf(who), networks: networksOf(from()) };
    await recordLoginFailure(deps.redis, attempt, clock.now);
  }
}

/** Logs in and returns the device cookie. */
async function introduce(options: Parameters<typeof logIn>[1] = {}): Promise<string> {
  const outcome = await logIn(form, options);
  if (outcome.kind !== 'accepted') throw new Error(`login ended as ${outcome.kind}`);
  form = await beginForm();
  return outcome.deviceCookie;
}

test('more than 100 failures from anywhere delay strangers, and only for that account [R30.11]', async () => {
  await fail(100);
  await introduce();
  await fail(1);
  const verifyPassword = vi.fn(deps.verifyPassword);
  expect(await logIn(form, { by: { ...deps, verifyPassword } })).toMatchObject(throttledFor(1));
  expect(verifyPassword).not.toHaveBeenCalled();
  expect(await logIn(form, { who: await addPerson() })).toMatchObject(accepted);
  form = await beginForm();
  clock.now += 1000;
  expect(await logIn(form)).toMatchObject(accepted);
});

test('the delay is 60 s at most, the failures of an hour count, and few are kept [R30.11]', async () => {
  for (const who of [flow.person, { email: `nobody-${flow.person.email}` }]) {
    await fail(300, who);
    expect(await logIn(form, { who })).toMatchObject(throttledFor(60));
    expect(await serverOf(redis).zcard(`login-failures:{${accountOf(who)}}`)).toBe(111);
  }
  clock.now += 60 * 60_000;
  form = await beginForm();
  expect(await logIn(form)).toMatchObject(accepted);
});

test('an attack of an hour has few guesses, and its owner logs in from a known place [R30.16]', async () => {
  const home = '2001:db8:7:12::1';
  await introduce({ address: home });
  await fail(101);
  const account = accountOf(flow.person);
  let guesses = 0;
  for (const begun = clock.now; clock.now < begun + 60 * 60_000; clock.now += 2_000) {
    const attempt = { id: `hour-${clock.now}`, account, networks: networksOf(freshAddress()) };
    const admission = await admitLogin(redis, attempt, clock.now);
    if (typeof admission === 'object') continue;
    guesses += 1;
    await recordLoginFailure(redis, attempt, clock.now);
    if (guesses % 10 > 0) continue;
    form = await beginForm();
    expect(await logIn(form)).toMatchObject({ ...throttledFor(60), accountAttacked: true });
    expect(await logIn(form, { address: home, typed: 'wrong' })).toMatchObject(wrongPassword);
    await introduce({ address: home });
  }
  expect(guesses).toBeLessThan(70);
  expect(guesses).toBeGreaterThan(50);
});

test('`unthrottle` clears the failures of an account in all networks, and of no other [R30.17]', async () => {
  const account = accountOf(flow.person);
  await fail(160);
  form = await beginForm();
  expect(await logIn(form)).toMatchObject(throttledFor(60));
  const own = '198.51.100.20';
  for (let nth = 0; nth < accountThreshold + 3; nth += 1) await fail(1, flow.person, () => own);
  await fail(6, { email: 'somebody@example.org' }, () => own);
  const context = openOperatorContext(flow.identity, {
    clearFailedLogins: () => clearFailures(redis, account),
  });
  await unthrottleUser(context, dry, flow.person);
  expect(await logIn(form)).toMatchObject(throttled);
  const { changes } = await unthrottleUser(context, anna, flow.person);
  expect(changes).toMatchObject([{ action: 'user.unthrottle', object: `user:${flow.person.sub}` }]);
  expect(await logIn(form, { address: own, typed: 'wrong' })).toMatchObject(wrongPassword);
  expect(await logIn(form)).toMatchObject(accepted);
  const others = accountOf({ email: 'somebody@example.org' });
  const [network] = networksOf(own);
  expect(await serverOf(redis).zcard(`login-failures:{${network}}:${network}:${others}`)).toBe(6);
});

test('no more guesses from many networks at once are admitted than may fail [R30.11]', async () => {
  await fail(90);
  const attempts = Array.from({ length: 30 }, (_, i) => ({
    id: `at-once-${i}`,
    networks: networksOf(freshAddress()),
  }));
  const admissions = await Promise.all(
    attempts.map((attempt) =>
      admitLogin(deps.redis, { ...attempt, account: accountOf(flow.person) }, clock.now),
    ),
  );
  expect(admissions.filter((admission) => admission === 'admitted')).toHaveLength(11);
  expect(admissions.filter((admission) => admission === 'busy')).toHaveLength(19);
});

test('a network or browser that has logged in to the account is not delayed by it, for 30 days [R30.11 R30.12]', async () => {
  const home = '2001:db8:7:11::1';
  const deviceCookie = await introduce({ address: home });
  clock.now += 30 * dayMs - 1;
  await fail(120);
  form = await beginForm();
  expect(await logIn(form)).toMatchObject(throttled);
  expect(await logIn(form, { typed: 'wrong', deviceCookie })).toMatchObject(wrongPassword);
  expect(await logIn(form, { typed: 'wrong', address: home })).toMatchObject(wrongPassword);
  clock.now += 1;
  for (const known of [{ deviceCookie }, { address: home }])
    expect(await logIn(form, known)).toMatchObject(throttled);
});

test('a known browser is delayed by its own failures alone [R30.12]', async () => {
  const [address, deviceCookie] = ['198.51.100.7', await introduce()];
  await fail(60, flow.person, () => '198.51.100.99');
  expect(await logIn(form, { address })).toMatchObject(throttled);
  for (let i = 0; i < 5; i += 1) {
    const wrong = await logIn(form, { typed: 'wrong', address, deviceCookie });
    expect(wrong).toMatchObject(wrongPassword);
  }
  const waiting = throttledFor(1);
  expect(await logIn(form, { address, deviceCookie })).toMatchObject(waiting);
  expect(await logIn(form, { deviceCookie })).toMatchObject(waiting);
  clock.now += 1000;
  await introduce({ address, deviceCookie });
  for (let i = 0; i < 4; i += 1) await logIn(form, { typed: 'wrong', address, deviceCookie });
  expect(await logIn(form, { address, deviceCookie })).toMatchObject(accepted);
});

test('a known /64 is delayed by its own failures, not by those of its /56 and /48 [R30.12]', async () => {
  const address = '2001:db8:8:1::1';
  await introduce({ address });
  let neighbour = 0;
  await fail(450, { email: 'somebody@example.org' }, () => `2001:db8:8:${(neighbour++ % 99) + 2}::1`);
  expect(await logIn(form, { address: '2001:db8:8:ff::1' })).toMatchObject(throttled);
  expect(await logIn(form, { address, typed: 'wrong' })).toMatchObject(wrongPassword);
  await fail(50, { email: 'somebody@example.org' }, () => address);
  expect(await logIn(form, { address })).toMatchObject(throttled);
});

test('a login that is delayed for its account takes no permit of its network [R30.11]', async () => {
  await fail(101);
  const attempt = { account: accountOf(flow.person), networks: networksOf(freshAddress()) };
  for (let nth = 0; nth <= accountThreshold; nth += 1)
    expect(await admitLogin(redis, { ...attempt, id: `${nth}` }, clock.now)).toMatchObject({ delay: 1_000 });
});

test('an account remembers a hundred networks and browsers, the latest', async () => {
  const account = accountOf(flow.person);
  for (let nth = 0; nth <= 100; nth += 1) await rememberOrigins(redis, account, [`${nth}`], clock.now + nth);
  expect(await findKnownOrigins(redis, account, ['0', '1', '100'], clock.now)).toEqual([false, true, true]);
});

test('a device cookie is random, is kept while the account knows it, and is known to that account alone [R30.11]', async () => {
  const address = freshAddress();
  const deviceCookie = await introduce({ address });
  expect(deviceCookie).toMatch(/^[A-Za-z0-9_-]{43}$/);
  expect(await introduce({ deviceCookie })).toBe(deviceCookie);
  const planted = 'B'.repeat(43);
  const replaced = await introduce({ deviceCookie: planted });
  expect(replaced).toMatch(/^[A-Za-z0-9_-]{43}$/);
  expect(replaced).not.toBe(planted);
  expect(await introduce({ forgetMe: true })).toBe('');
  const origins = await serverOf(redis).zrange(`login-known:{${accountOf(flow.person)}}`, '0', '-1');
  expect(origins).toHaveLength(6);
  for (const origin of origins) expect(origin).toMatch(/^[A-Za-z0-9_-]{22}$/);
  const other = await addPerson();
  await fail(101, other);
  for (const known of [{ deviceCookie }, { address }])
    expect(await logIn(form, { ...known, who: other })).toMatchObject(throttled);
  // Two people on one machine: the second's login replaces the cookie of the first.
  const third = await addPerson();
  const own = await introduce({ who: third, deviceCookie });
  expect(own).not.toBe(deviceCookie);
  await fail(101, third);
  expect(await logIn(form, { who: third, deviceCookie: own })).toMatchObject(accepted);
});
