// The login defence in Redis, raced and timed by a clock that the tests set.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { AuthorizationDependencies } from '../../services/identity/src/authorization/dependencies.ts';
import type { PresentedForm } from '../../services/identity/src/authorization/held-form.ts';
import {
  accountThreshold,
  delayAfter,
  networkThreshold,
} from '../../services/identity/src/domain/login-throttle.ts';
import { networkOf } from '../../services/identity/src/domain/network.ts';
import type { ReplicatedStore } from '../../services/identity/src/store/redis/replication.ts';
import {
  addPerson,
  beginForm,
  type Clock,
  counting,
  freshAddress,
  logIn,
  openAuthorizations,
  type Person,
  password,
} from './identity-authorization.ts';
import { addPartner, openEndpoint, type Partner } from './identity-grant.ts';
import { type IdentityDatabase, openIdentityDatabase, openRedis, serverOf } from './identity-stores.ts';

const guesses = 50;
const clock: Clock = { now: Date.now() };
let identity: IdentityDatabase;
let connections: ReplicatedStore[];
let browsers: AuthorizationDependencies[];
let deps: AuthorizationDependencies;
let partner: Partner;
let person: Person;

beforeAll(async () => {
  identity = await openIdentityDatabase(20);
  connections = await openRedis(guesses);
  const endpoint = await openEndpoint(identity, connections[0] as ReplicatedStore);
  browsers = await openAuthorizations(endpoint, connections, clock);
  deps = browsers[0] as AuthorizationDependencies;
  partner = await addPartner(identity);
});

afterAll(async () => {
  await Promise.all(connections.map(({ close }) => close()));
  await identity.close();
});

beforeEach(async () => {
  clock.now = Date.now();
  person = await addPerson(identity);
});

function loginForm(changes = {}, session = ''): Promise<PresentedForm> {
  return beginForm(deps, partner.clientId, changes, session);
}

describe('login defence', () => {
  test(`of ${guesses} guesses at once no more than five are looked at [R30.1 R30.2]`, async () => {
    const [form, address] = [await loginForm(), freshAddress()];
    const { seen, counted } = counting(browsers);
    const outcomes = await Promise.all(
      counted.map((by, i) => logIn(by, form, person, { typed: `guess ${i}`, address })),
    );
    expect(seen.passwords).toBe(accountThreshold);
    const reasons = outcomes.map((outcome) => outcome.kind === 'rejected' && outcome.reason);
    expect(reasons.filter((reason) => reason === 'credentials')).toHaveLength(accountThreshold);
    expect(reasons.filter((reason) => reason === 'throttled')).toHaveLength(guesses - accountThreshold);
  });

  test('many right logins of one person at once all pass, and count nothing [R30.3]', async () => {
    const address = freshAddress();
    const forms = await Promise.all(Array.from({ length: 12 }, () => loginForm()));
    const outcomes = await Promise.all(forms.map((form) => logIn(deps, form, person, { address })));
    expect(outcomes.map(({ kind }) => kind)).toEqual(forms.map(() => 'accepted'));
    expect(await serverOf(connections[0]).keys(`login-failures:{${networkOf(address)}}*`)).toEqual([]);
  });

  test('the delay doubles from 1 s to 60 s, as the rule says; even the right password waits [R30.2 R30.8]', async () => {
    const [form, address] = [await loginForm(), freshAddress()];
    for (let failures = 1; failures <= 13; failures += 1) {
      const wrong = await logIn(deps, form, person, { typed: 'wrong', address });
      expect(wrong).toMatchObject({ reason: 'credentials' });
      const delay = delayAfter(failures, accountThreshold);
      if (delay === 0) continue;
      expect(await logIn(deps, form, person, { address })).toMatchObject({
        reason: 'throttled',
        retryAfterSeconds: delay / 1000,
      });
      clock.now += delay;
    }
    expect(await logIn(deps, form, person, { address })).toMatchObject({ kind: 'accepted' });
  });

  test('failures older than 15 minutes are forgotten', async () => {
    const [form, address] = [await loginForm(), freshAddress()];
    for (let i = 0; i < 4; i += 1) await logIn(deps, form, person, { typed: 'wrong', address });
    clock.now += 15 * 60_000;
    const later = await logIn(deps, form, person, { typed: 'wrong', address });
    expect(later).toMatchObject({ reason: 'credentials' });
    expect(await logIn(deps, form, person, { address })).toMatchObject({ kind: 'accepted' });
  });

  test('the owner signs in from another network meanwhile; unknown accounts are delayed alike [R30.5]', async () => {
    const [form, address] = [await loginForm(), freshAddress()];
    const unknown = { email: `nobody-${person.email}` };
    for (const someone of [person, unknown]) {
      for (let i = 0; i < 5; i += 1) await logIn(deps, form, someone, { typed: 'wrong', address });
      expect(await logIn(deps, form, someone, { address })).toMatchObject({ reason: 'throttled' });
    }
    expect(await logIn(deps, form, person)).toMatchObject({ kind: 'accepted' });
  });

  test('a success clears the account’s count, never the network’s own [R30.3 R30.7]', async () => {
    const [form, address] = [await loginForm(), freshAddress()];
    for (let i = 0; i < 4; i += 1) await logIn(deps, form, person, { typed: 'wrong', address });
    await logIn(deps, form, person, { address });
    const count = (key: string) =>
      serverOf(connections[0]).zcard(`login-failures:{${networkOf(address)}}${key}`);
    expect(await count(`:${deps.accountKey(person.email)}`)).toBe(0);
    expect(await count('')).toBe(4);
  });

  test('fifty failures of one network delay all its accounts [R30.7]', async () => {
    const [form, address] = [await loginForm(), freshAddress()];
    for (let i = 0; i < networkThreshold; i += 1) {
      const attempt = { id: `${i}`, account: `account-${i}`, network: networkOf(address) };
      expect(await deps.admitLogin(attempt, clock.now)).toEqual({ kind: 'admitted' });
      await deps.recordLoginFailure(attempt, clock.now);
    }
    expect(await logIn(deps, form, person, { address })).toMatchObject({ reason: 'throttled' });
    clock.now += 1000;
    expect(await logIn(deps, form, person, { address })).toMatchObject({ kind: 'accepted' });
  });

  test('a full queue is no failure: nothing is counted and the place is given back [R14.5]', async () => {
    const [form, address] = [await loginForm(), freshAddress()];
    const full = { ...deps, verifyPassword: () => Promise.reject(new Error('full')) };
    for (let i = 0; i < 6; i += 1)
      await expect(logIn(full, form, person, { address })).rejects.toThrow('full');
    expect(await logIn(deps, form, person, { address })).toMatchObject({ kind: 'accepted' });
  });

  test('an attempt that a crash left open gives its place back after 15 s', async () => {
    const network = networkOf(freshAddress());
    const attempts = Array.from({ length: 6 }, (_, i) => ({ id: `${i}`, account: 'a', network }));
    const kinds = [];
    for (const attempt of attempts) kinds.push((await deps.admitLogin(attempt, clock.now)).kind);
    expect(kinds).toEqual([...Array(5).fill('admitted'), 'busy']);
    const late = { id: 'late', account: 'a', network };
    expect((await deps.admitLogin(late, clock.now + 15_000)).kind).toBe('admitted');
  });

  test('the right password is never told from a wrong one by its place in the queue', async () => {
    const [form, address] = [await loginForm(), freshAddress()];
    for (let i = 0; i < 5; i += 1) await logIn(deps, form, person, { typed: 'wrong', address });
    const { seen, counted } = counting([deps]);
    await logIn(counted[0] ?? deps, form, person, { typed: password, address });
    expect(seen.passwords).toBe(0);
  });
});
