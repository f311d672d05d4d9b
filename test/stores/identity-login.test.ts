// Login and who is accepted without one, on real stores.
import type { Queries } from '@course-exchange/runtime/postgres/pool';
import { beforeEach, describe, expect, test } from 'vitest';
import { submitAccountChoice } from '../../services/identity/src/authorize/account.ts';
import { submitConsent } from '../../services/identity/src/authorize/consent.ts';
import { getInteraction } from '../../services/identity/src/authorize/page.ts';
import { getBrowserSession } from '../../services/identity/src/authorize/signed-in-user.ts';
import { hashSecret } from '../../services/identity/src/secrets.ts';
import {
  addPerson,
  answerOf,
  beginForm,
  counting,
  logIn,
  type Person,
  sessionOf,
  signIn,
  useAuthorization,
} from './identity-authorization.ts';
import { addConsent, addPartner } from './identity-grant.ts';
import { serverOf } from './identity-stores.ts';

const { identity, redis, deps } = await useAuthorization();
const partner = await addPartner(identity);
let person: Person;

beforeEach(async () => {
  person = await addPerson(identity);
});

const loginForm = (changes = {}, session = '') => beginForm(deps, partner.clientId, changes, session);

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

  const replacePassword = (database: Queries, signedOutAt: number | null = deps.now() - 1) => {
    const text = `update users set password_hash = 'x', imported_hash = sha256('x'),
      signed_out_at = to_timestamp($2::float8 / 1000) where sub = $1`;
    return database.query({ name: '', text }, [person.sub, signedOutAt]);
  };
  /** Logs in; once the password is verified the import begins. */
  async function logInWhile(importing: () => Promise<void>, sleep = deps.sleep) {
    const verifyPassword: typeof deps.verifyPassword = async (hash, ...asked) => {
      const matches = await deps.verifyPassword(hash, ...asked);
      if (matches) await importing();
      return matches;
    };
    return logIn({ ...deps, verifyPassword, sleep }, await loginForm(), person);
  }

  test.each([
    ['signs out', undefined],
    ['keeps sessions', null],
  ])('a password that an import which %s replaces meanwhile opens nothing', async (_what, signedOutAt) => {
    const outcome = await logInWhile(
      async () => void (await replacePassword(identity.operator, signedOutAt)),
    );
    expect(outcome).toMatchObject({ kind: 'rejected', reason: 'credentials' });
  });

  test('a password that an unfinished import replaces opens nothing: the login waits for its end', async () => {
    const [changed, waiting] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const imported = { ends: Promise.resolve() };
    const outcome = await logInWhile(
      async () => {
        imported.ends = identity.operator.transaction(async (transaction) => {
          await replacePassword(transaction);
          changed.resolve();
          await waiting.promise;
        });
        await Promise.race([changed.promise, imported.ends]);
      },
      async (ms) => {
        waiting.resolve();
        await deps.sleep(ms);
      },
    );
    await imported.ends;
    expect(outcome).toMatchObject({ kind: 'rejected', reason: 'credentials' });
  });

  test('gives a fresh session each time and ends the one before', async () => {
    const first = await signIn(deps, await loginForm(), person);
    const again = await signIn(deps, await loginForm({ prompt: 'login' }, first.browserSession), person);
    expect(again.browserSession).not.toBe(first.browserSession);
    expect((await getBrowserSession(deps, first.browserSession)).account).toBeUndefined();
    expect((await getBrowserSession(deps, again.browserSession)).account?.email).toBe(person.email);
    const key = `session:${hashSecret(again.browserSession)}`;
    expect(await serverOf(redis).exists(key, `session:${again.browserSession}`)).toBe(1);
  });

  test('a double click on a login that leaves nothing to ask gives one code', async () => {
    await addConsent(identity, person.sub, partner.clientId);
    const form = await loginForm();
    const outcomes = await Promise.all([1, 2].map(() => logIn(deps, form, person)));
    const codes = outcomes.map((outcome) => answerOf(outcome).get('code'));
    expect(codes[0]).toMatch(/^[A-Za-z0-9_-]{65}$/);
    expect(codes[1]).toBe(codes[0]);
  });

  test('by Back from the consent page replaces who the interaction is about', async () => {
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
      page: 'consent',
      browserSession: '',
      deviceCookie: '',
    });
    expect((await getBrowserSession(deps, signedIn.browserSession)).account).toBeUndefined();
    const move = await submitConsent(deps, { ...form, browserSession: '', decision: 'allow' });
    expect(answerOf(move).get('code')).not.toBeNull();
  });
});

describe('who is accepted without a login form', () => {
  test('prompt=login asks one who is signed in again, by name [R5.3]', async () => {
    const { browserSession } = await signIn(deps, await loginForm(), person);
    const form = await loginForm({ prompt: 'login' }, browserSession);
    expect(await getInteraction(deps, form)).toMatchObject({
      kind: 'login',
      email: person.email,
      account: { email: person.email },
    });
    expect(await submitConsent(deps, { ...form, decision: 'allow' })).toEqual({
      kind: 'next',
      page: 'login',
    });
    const next = await signIn(deps, form, person);
    expect((await getInteraction(deps, next)).kind).toBe('consent');
  });

  test('select_account goes on as the signed-in user, or ends the session for another [R5.4 R29.3]', async () => {
    await addConsent(identity, person.sub, partner.clientId);
    const browserSession = await sessionOf(deps, partner.clientId, person);
    const select = { prompt: 'select_account' };
    const form = await loginForm(select, browserSession);
    expect((await getInteraction(deps, form)).kind).toBe('account');
    const early = await submitConsent(deps, { ...form, decision: 'allow' });
    expect(early).toEqual({ kind: 'next', page: 'account' });
    const continued = await submitAccountChoice(deps, { ...form, useAnotherAccount: false });
    expect(answerOf(continued.result).get('code')).not.toBeNull();
    const second = await loginForm(select, browserSession);
    const another = await submitAccountChoice(deps, { ...second, useAnotherAccount: true });
    expect(another).toEqual({ result: { kind: 'next', page: 'login' }, sessionEnded: true });
    const view = await getInteraction(deps, second);
    expect(view.kind).toBe('login');
    expect(view).not.toHaveProperty('account');
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
    const early = await submitConsent(deps, { ...form, decision: 'allow' });
    expect(early).toEqual({ kind: 'next', page: 'login' });
    expect((await getInteraction(deps, form)).kind).toBe('login');
  });
});
