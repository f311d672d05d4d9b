// Login, browser sessions and the login defence on real stores, by a clock that the tests set.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { AuthorizationDependencies } from '../../services/identity/src/authorization/dependencies.ts';
import { getInteraction } from '../../services/identity/src/authorization/get-interaction.ts';
import type { PresentedForm } from '../../services/identity/src/authorization/held-form.ts';
import { endBrowserSession, getBrowserSession } from '../../services/identity/src/authorization/sign-out.ts';
import { submitAccountChoice } from '../../services/identity/src/authorization/submit-account-choice.ts';
import { submitConsent } from '../../services/identity/src/authorization/submit-consent.ts';
import { accountKey } from '../../services/identity/src/domain/login-form.ts';
import {
  accountThreshold,
  delayAfter,
  networkThreshold,
} from '../../services/identity/src/domain/login-throttle.ts';
import { networkOf } from '../../services/identity/src/domain/network.ts';
import { hashSecret } from '../../services/identity/src/domain/secrets.ts';
import type { TokenEndpoint } from '../../services/identity/src/grants/token-endpoint.ts';
import { issueIdToken } from '../../services/identity/src/signing/id-token.ts';
import type { ReplicatedStore } from '../../services/identity/src/store/redis/replication.ts';
import {
  addPerson,
  answerOf,
  begin,
  beginForm,
  type Clock,
  freshAddress,
  logIn,
  openAuthorizations,
  type Person,
  password,
  signIn,
} from './identity-authorization.ts';
import { addConsent, addPartner, openEndpoint, type Partner } from './identity-grant.ts';
import { type IdentityDatabase, openIdentityDatabase, openRedis } from './identity-stores.ts';

const guesses = 50;
const hour = 60 * 60_000;
const clock: Clock = { now: Date.now() };
let identity: IdentityDatabase;
let connections: ReplicatedStore[];
let endpoint: TokenEndpoint;
let browsers: AuthorizationDependencies[];
let deps: AuthorizationDependencies;
let partner: Partner;
let person: Person;

beforeAll(async () => {
  identity = await openIdentityDatabase(20);
  connections = await openRedis(guesses);
  endpoint = await openEndpoint(identity, connections[0] as ReplicatedStore);
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

/** Counts the passwords that are looked at. */
function counting(all: AuthorizationDependencies[]) {
  const seen = { passwords: 0 };
  const counted = all.map((one) => ({
    ...one,
    verifyPassword: (hash: string | undefined, typed: string) => {
      seen.passwords += 1;
      return one.verifyPassword(hash, typed);
    },
  }));
  return { seen, counted };
}

describe('login', () => {
  test('is for the e-mail in any letter case; unknown, wrong and disabled look alike [R18.5]', async () => {
    const form = await loginForm();
    const disabled = await addPerson(identity);
    await identity.sql('update users set disabled_at = now() where sub = $1', [disabled.sub]);
    const { seen, counted } = counting([deps]);
    const [by = deps] = counted;
    const rejections = [
      await logIn(by, form, person, { typed: 'wrong' }),
      await logIn(by, form, { email: 'nobody@example.org' }),
      await logIn(by, form, disabled),
      await logIn(by, form, { email: 'nul\0@example.org' }),
    ];
    for (const rejection of rejections)
      expect(rejection).toMatchObject({ kind: 'rejected', reason: 'credentials', retryAfterSeconds: 0 });
    expect(seen.passwords).toBe(4);
    expect(await logIn(deps, form, { email: ` ${person.email.toUpperCase()}` })).toMatchObject({
      kind: 'accepted',
    });
  });

  test('an empty or overlong field is told, and no password is looked at', async () => {
    const form = await loginForm();
    const { seen, counted } = counting([deps]);
    for (const [email, typed] of [
      ['', 'x'],
      [person.email, ''],
      [person.email, 'x'.repeat(1025)],
    ] as const)
      expect(await logIn(counted[0] ?? deps, form, { email }, { typed })).toMatchObject({
        reason: 'incomplete',
      });
    expect(seen.passwords).toBe(0);
  });

  test('gives a fresh session each time and ends the one before', async () => {
    const first = await signIn(deps, await loginForm(), person);
    const again = await signIn(deps, await loginForm({ prompt: 'login' }, first.browserSession), person);
    expect(again.browserSession).not.toBe(first.browserSession);
    expect((await getBrowserSession(deps, first.browserSession)).account).toBeUndefined();
    expect((await getBrowserSession(deps, again.browserSession)).account?.email).toBe(person.email);
    const key = `session:${hashSecret(again.browserSession)}`;
    expect(await connections[0]?.redis.exists(key, `session:${again.browserSession}`)).toBe(1);
  });

  test('a double click on a login that leaves nothing to ask gives one code', async () => {
    await addConsent(identity, person.sub, partner.clientId);
    const form = await loginForm();
    const outcomes = await Promise.all([1, 2].map(() => logIn(deps, form, person)));
    const codes = outcomes.map((outcome) => answerOf(outcome).get('code'));
    expect(codes[0]).toMatch(/^[A-Za-z0-9_-]{65}$/);
    expect(codes[1]).toBe(codes[0]);
  });

  test('by Back from the consent page replaces who the transaction is about', async () => {
    const other = await addPerson(identity);
    const form = await signIn(deps, await loginForm(), person);
    const next = await signIn(deps, form, other);
    expect(await getInteraction(deps, next)).toMatchObject({
      kind: 'consent',
      account: { email: other.email },
    });
  });

  test('“shared computer”: no session outlives the flow [R29.7]', async () => {
    const signedIn = await signIn(deps, await loginForm(), person);
    const form = await loginForm({ prompt: 'login' }, signedIn.browserSession);
    expect(await logIn(deps, form, person, { forgetMe: true })).toEqual({
      kind: 'accepted',
      browserSession: '',
    });
    expect((await getBrowserSession(deps, signedIn.browserSession)).account).toBeUndefined();
    const move = await submitConsent(deps, { ...form, browserSession: '', decision: 'allow' });
    expect(answerOf(move).get('code')).not.toBeNull();
  });
});

describe('who is accepted without a login form', () => {
  test('prompt=none: login_required, consent_required, then a code [R5.1 R5.2]', async () => {
    const none = { prompt: 'none' };
    expect(answerOf(await begin(deps, partner.clientId, none)).get('error')).toBe('login_required');
    const form = await signIn(deps, await loginForm(), person);
    const session = form.browserSession;
    expect(answerOf(await begin(deps, partner.clientId, none, session)).get('error')).toBe(
      'consent_required',
    );
    await submitConsent(deps, { ...form, decision: 'allow' });
    expect(answerOf(await begin(deps, partner.clientId, none, session)).get('code')).not.toBeNull();
    const aged = { prompt: 'none', maxAge: '0' };
    expect(answerOf(await begin(deps, partner.clientId, aged, session)).get('error')).toBe('login_required');
  });

  test('prompt=login asks one who is signed in again, by name [R5.3]', async () => {
    const { browserSession } = await signIn(deps, await loginForm(), person);
    const form = await loginForm({ prompt: 'login' }, browserSession);
    expect(await getInteraction(deps, form)).toMatchObject({
      kind: 'login',
      email: person.email,
      account: { email: person.email },
    });
    expect((await submitConsent(deps, { ...form, decision: 'allow' })).kind).toBe('next');
    const next = await signIn(deps, form, person);
    expect((await getInteraction(deps, next)).kind).toBe('consent');
  });

  test('a hint at the signed-in user passes, at another asks for a login [R5.9 R5.10]', async () => {
    await addConsent(identity, person.sub, partner.clientId);
    const session = await sessionOf(person);
    const stranger = await addPerson(identity);
    const none = (idTokenHint: string) =>
      begin(deps, partner.clientId, { prompt: 'none', idTokenHint }, session).then(answerOf);
    expect((await none(await expiredIdToken(person))).get('code')).not.toBeNull();
    const hint = await expiredIdToken(stranger);
    expect((await none(hint)).get('error')).toBe('login_required');
    expect((await none(`${hint.slice(0, -8)}AAAAAAAA`)).get('error')).toBe('invalid_request');
    const form = await loginForm({ idTokenHint: hint }, session);
    expect(await getInteraction(deps, form)).toMatchObject({ kind: 'login', email: '' });
    expect((await logIn(deps, form, person)).kind).toBe('redirect');
  });

  test('select_account goes on as the signed-in user, or ends the session for another [R5.4 R29.3]', async () => {
    await addConsent(identity, person.sub, partner.clientId);
    const { browserSession } = { browserSession: await sessionOf(person) };
    const select = { prompt: 'select_account' };
    const form = await loginForm(select, browserSession);
    expect((await getInteraction(deps, form)).kind).toBe('account');
    expect((await submitConsent(deps, { ...form, decision: 'allow' })).kind).toBe('next');
    const goOn = await submitAccountChoice(deps, { ...form, useAnotherAccount: false });
    expect(answerOf(goOn.move).get('code')).not.toBeNull();
    const second = await loginForm(select, browserSession);
    const another = await submitAccountChoice(deps, { ...second, useAnotherAccount: true });
    expect(another).toEqual({ move: { kind: 'next' }, sessionEnded: true });
    expect(await getInteraction(deps, second)).toMatchObject({ kind: 'login', account: undefined });
    expect((await getBrowserSession(deps, browserSession)).account).toBeUndefined();
  });

  test('two tabs: a login of the same user in one does not disturb the other', async () => {
    const tab = await signIn(deps, await loginForm(), person);
    const other = await signIn(deps, await loginForm({ prompt: 'login' }, tab.browserSession), person);
    const move = await submitConsent(deps, {
      ...tab,
      browserSession: other.browserSession,
      decision: 'allow',
    });
    expect(answerOf(move).get('code')).not.toBeNull();
  });

  test('two tabs: after a login of somebody else the first asks for a login again', async () => {
    const tab = await signIn(deps, await loginForm(), person);
    const stranger = await addPerson(identity);
    const other = await signIn(deps, await loginForm({ prompt: 'login' }, tab.browserSession), stranger);
    const form = { ...tab, browserSession: other.browserSession };
    expect((await submitConsent(deps, { ...form, decision: 'allow' })).kind).toBe('next');
    expect((await getInteraction(deps, form)).kind).toBe('login');
  });
});

/** An ID token of ours that expired long ago. */
function expiredIdToken({ sub, email }: Person): Promise<string> {
  const asked = { clientId: partner.clientId, nonce: '', authTime: undefined };
  return issueIdToken(endpoint.tokens, { sub, email, emailVerified: true, name: 'Ada' }, asked, 1);
}

async function sessionOf(someone: Person): Promise<string> {
  const outcome = await logIn(deps, await loginForm(), someone);
  if (!('browserSession' in outcome)) throw new Error(`login ended as ${outcome.kind}`);
  return outcome.browserSession;
}

describe('a browser session', () => {
  const signedIn = async (session: string) => (await getBrowserSession(deps, session)).account !== undefined;
  const use = (session: string) => begin(deps, partner.clientId, { prompt: 'none' }, session);

  test('ends 1 hour after its last use; a look at it is no use [R29.1]', async () => {
    const session = await sessionOf(person);
    clock.now += hour - 1;
    await use(session);
    clock.now += hour - 1;
    expect(await signedIn(session)).toBe(true);
    clock.now += 1;
    expect(await signedIn(session)).toBe(false);
    expect(answerOf(await use(session)).get('error')).toBe('login_required');
  });

  test('ends 8 hours after the login, used or not, in Redis too [R29.2]', async () => {
    const session = await sessionOf(person);
    for (let half = 1; half < 16; half += 1) {
      clock.now += hour / 2;
      await use(session);
      expect(await signedIn(session)).toBe(true);
    }
    const ttl = (await connections[0]?.redis.pttl(`session:${hashSecret(session)}`)) ?? 0;
    expect(ttl).toBeGreaterThan(0);
    expect(ttl).toBeLessThanOrEqual(hour / 2);
    clock.now += hour / 2;
    expect(await signedIn(session)).toBe(false);
  });

  test('ends on the sign-out page by its own form alone', async () => {
    const [session, stranger] = [await sessionOf(person), await sessionOf(await addPerson(identity))];
    const { formToken } = await getBrowserSession(deps, session);
    const foreign = await getBrowserSession(deps, stranger);
    expect(await endBrowserSession(deps, session, foreign.formToken)).toBe(false);
    expect(await endBrowserSession(deps, '', '')).toBe(false);
    expect(await signedIn(session)).toBe(true);
    expect(await endBrowserSession(deps, session, formToken)).toBe(true);
    expect(await signedIn(session)).toBe(false);
    expect(await endBrowserSession(deps, session, formToken)).toBe(true);
  });

  test('a use that comes too late does not bring it back', async () => {
    const session = await sessionOf(person);
    const found = await deps.findSession(session, clock.now);
    await deps.endSession(session);
    expect(found && (await deps.touchSession(session, found, clock.now))).toBe(false);
    expect(await signedIn(session)).toBe(false);
  });
});

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
    expect(await connections[0]?.redis.keys(`login-failures:{${networkOf(address)}}*`)).toEqual([]);
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
      connections[0]?.redis.zcard(`login-failures:{${networkOf(address)}}${key}`);
    expect(await count(`:${accountKey(person.email)}`)).toBe(0);
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
