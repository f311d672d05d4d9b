// The budget of failures that an account has over all networks, and who is known to it and so not held back (R30), in a
// real Redis by a clock that the tests set.

import { networksOf } from '@course-exchange/runtime/process/ip-address';
import { beforeEach, expect, test } from 'vitest';
import type { PresentedForm } from '../../services/identity/src/authorize/form.ts';
import { accountKey, accountThreshold } from '../../services/identity/src/login/throttle.ts';
import {
  admitLogin,
  findKnownOrigins,
  recordLoginFailure,
  rememberOrigins,
} from '../../services/identity/src/login/throttle-store.ts';
import {
  addPerson,
  beginForm,
  counting,
  freshAddress,
  logIn,
  type Person,
  throttled,
  throttledFor,
  useAuthorization,
  wrongPassword,
} from './identity-authorization.ts';
import { addPartner } from './identity-grant.ts';
import { serverOf } from './redis-servers.ts';

const { identity, redis, clock, deps } = await useAuthorization();
const partner = await addPartner(identity);
const dayMs = 24 * 60 * 60 * 1000;
const accepted = { kind: 'accepted' };
let person: Person;
let form: PresentedForm;
let failures = 0;

beforeEach(async () => {
  person = await addPerson(identity);
  form = await beginForm(deps, partner.clientId);
});

const accountOf = ({ email }: Pick<Person, 'email'>) => accountKey(deps.accountsKey.reveal(), email);

/** Failures of the account, by default each from a network of its own. */
async function fail(times: number, who: Pick<Person, 'email'> = person, from = freshAddress): Promise<void> {
  for (let i = 0; i < times; i += 1) {
    failures += 1;
    const attempt = { id: `${failures}`, account: accountOf(who), networks: networksOf(from()) };
    await recordLoginFailure(deps.redis, attempt, clock.now);
  }
}

/** Logs in and returns the device cookie. */
async function introduce(options: Parameters<typeof logIn>[3] = {}): Promise<string> {
  const outcome = await logIn(deps, form, person, options);
  if (outcome.kind !== 'accepted') throw new Error(`login ended as ${outcome.kind}`);
  form = await beginForm(deps, partner.clientId);
  return outcome.deviceCookie;
}

test('more than 100 failures from anywhere delay strangers, and only for that account [R30.11]', async () => {
  await fail(100);
  await introduce();
  await fail(1);
  const { seen, counted } = counting([deps]);
  expect(await logIn(counted[0] ?? deps, form, person)).toMatchObject(throttledFor(1));
  expect(seen.passwords).toBe(0);
  expect(await logIn(deps, form, await addPerson(identity))).toMatchObject(accepted);
  form = await beginForm(deps, partner.clientId);
  clock.now += 1000;
  expect(await logIn(deps, form, person)).toMatchObject(accepted);
});

test('the delay is 60 s at most, the failures of an hour count, and few are kept [R30.11]', async () => {
  const unknown = { email: `nobody-${person.email}` };
  for (const who of [person, unknown]) {
    await fail(300, who);
    expect(await logIn(deps, form, who)).toMatchObject(throttledFor(60));
    expect(await serverOf(redis).zcard(`login-failures:{${accountOf(who)}}`)).toBe(111);
  }
  clock.now += 60 * 60_000;
  form = await beginForm(deps, partner.clientId);
  expect(await logIn(deps, form, person)).toMatchObject(accepted);
});

test('of guesses from many networks at once no more are admitted than may fail [R30.11]', async () => {
  await fail(90);
  const attempts = Array.from({ length: 30 }, (_, i) => ({
    id: `at-once-${i}`,
    networks: networksOf(freshAddress()),
  }));
  const admissions = await Promise.all(
    attempts.map((attempt) => admitLogin(deps.redis, { ...attempt, account: accountOf(person) }, clock.now)),
  );
  expect(admissions.filter((admission) => admission === 'admitted')).toHaveLength(11);
  expect(admissions.filter((admission) => admission === 'busy')).toHaveLength(19);
});

test('a network or browser that has logged in to the account is not delayed by it, for 30 days [R30.11 R30.12]', async () => {
  const home = '2001:db8:7:11::1';
  const deviceCookie = await introduce({ address: home });
  clock.now += 30 * dayMs - 1;
  await fail(120);
  form = await beginForm(deps, partner.clientId);
  expect(await logIn(deps, form, person)).toMatchObject(throttled);
  expect(await logIn(deps, form, person, { typed: 'wrong', deviceCookie })).toMatchObject(wrongPassword);
  expect(await logIn(deps, form, person, { typed: 'wrong', address: home })).toMatchObject(wrongPassword);
  clock.now += 1;
  for (const known of [{ deviceCookie }, { address: home }])
    expect(await logIn(deps, form, person, known)).toMatchObject(throttled);
});

test('a known browser is delayed by its own failures alone [R30.12]', async () => {
  const [address, deviceCookie] = ['198.51.100.7', await introduce()];
  await fail(60, person, () => '198.51.100.99');
  expect(await logIn(deps, form, person, { address })).toMatchObject(throttled);
  for (let i = 0; i < 5; i += 1) {
    const wrong = await logIn(deps, form, person, { typed: 'wrong', address, deviceCookie });
    expect(wrong).toMatchObject(wrongPassword);
  }
  const waiting = throttledFor(1);
  expect(await logIn(deps, form, person, { address, deviceCookie })).toMatchObject(waiting);
  expect(await logIn(deps, form, person, { deviceCookie })).toMatchObject(waiting);
  clock.now += 1000;
  await introduce({ address, deviceCookie });
  for (let i = 0; i < 4; i += 1) await logIn(deps, form, person, { typed: 'wrong', address, deviceCookie });
  expect(await logIn(deps, form, person, { address, deviceCookie })).toMatchObject(accepted);
});

test('a known /64 is delayed by its own failures, not by those of its /56 and /48 [R30.12]', async () => {
  const address = '2001:db8:8:1::1';
  await introduce({ address });
  let neighbour = 0;
  await fail(450, { email: 'somebody@example.org' }, () => `2001:db8:8:${(neighbour++ % 99) + 2}::1`);
  expect(await logIn(deps, form, person, { address: '2001:db8:8:ff::1' })).toMatchObject(throttled);
  expect(await logIn(deps, form, person, { address, typed: 'wrong' })).toMatchObject(wrongPassword);
  await fail(50, { email: 'somebody@example.org' }, () => address);
  expect(await logIn(deps, form, person, { address })).toMatchObject(throttled);
});

test('a login that is delayed for its account takes nobody’s place in its network [R30.11]', async () => {
  await fail(101);
  const attempt = { account: accountOf(person), networks: networksOf(freshAddress()) };
  for (let nth = 0; nth <= accountThreshold; nth += 1)
    expect(await admitLogin(redis, { ...attempt, id: `${nth}` }, clock.now)).toEqual(expect.any(Number));
});

test('an account remembers a hundred networks and browsers, the latest', async () => {
  const account = accountOf(person);
  for (let nth = 0; nth <= 100; nth += 1) await rememberOrigins(redis, account, [`${nth}`], clock.now + nth);
  expect(await findKnownOrigins(redis, account, ['0', '1', '100'], clock.now)).toEqual([false, true, true]);
});

test('a device cookie is random, is kept, and is known to its account alone [R30.11]', async () => {
  const address = freshAddress();
  const deviceCookie = await introduce({ address });
  expect(deviceCookie).toMatch(/^[A-Za-z0-9_-]{43}$/);
  expect(await introduce({ deviceCookie })).toBe(deviceCookie);
  expect(await introduce({ deviceCookie: 'made-up' })).not.toBe('made-up');
  expect(await introduce({ forgetMe: true })).toBe('');
  const origins = await serverOf(redis).zrange(`login-known:{${accountOf(person)}}`, '0', '-1');
  expect(origins).toHaveLength(6);
  for (const origin of origins) expect(origin).toMatch(/^[A-Za-z0-9_-]{22}$/);
  const other = await addPerson(identity);
  await fail(101, other);
  for (const known of [{ deviceCookie }, { address }])
    expect(await logIn(deps, form, other, known)).toMatchObject(throttled);
  // Two people on one machine: the second's login keeps the cookie, and each is known by it.
  const third = await addPerson(identity);
  expect(await logIn(deps, form, third, { deviceCookie })).toMatchObject({ deviceCookie });
  await fail(101, third);
  expect(await logIn(deps, form, third, { deviceCookie })).toMatchObject(accepted);
  expect(await logIn(deps, form, person, { deviceCookie })).toMatchObject(accepted);
});
