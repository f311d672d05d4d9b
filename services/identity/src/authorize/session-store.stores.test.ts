// Login on real stores, and the session that it begins.
import type { Queries } from '@course-exchange/runtime/postgres/pool';
import { expect, test, vi } from 'vitest';
import { answerOf, type Person, useAuthorization } from '../../../../test/stores/identity-authorization.ts';
import { submitConsent } from './choices.ts';
import { getInteraction } from './page.ts';
import { endSession, findSession, touchSession } from './session-store.ts';
import { getBrowserSession } from './signed-in-user.ts';

const flow = await useAuthorization(3);
const { identity, redis, clock, deps, addPerson, begin, beginForm, logIn, signIn, newSession } = flow;

test('a login is for the e-mail in any letter case; unknown, wrong and disabled look alike [R18.5]', async () => {
  const form = await beginForm();
  const disabled = await addPerson();
  await identity.sql('update users set disabled_at = now() where sub = $1', [disabled.sub]);
  const verifyPassword = vi.fn(deps.verifyPassword);
  const by = { ...deps, verifyPassword };
  const rejections = [
    await logIn(form, { typed: 'wrong', by }),
    await logIn(form, { who: { email: 'nobody@example.org' }, by }),
    await logIn(form, { who: disabled, by }),
    await logIn(form, { who: { email: 'nul\0@example.org' }, by }),
  ];
  for (const rejection of rejections)
    expect(rejection).toMatchObject({ kind: 'rejected', reason: 'credentials', retryAfterSeconds: 0 });
  expect(verifyPassword).toHaveBeenCalledTimes(4);
  expect(await logIn(form, { who: { email: ` ${flow.person.email.toUpperCase()}` } })).toMatchObject({
    kind: 'accepted',
  });
});

const replacePassword = (database: Queries, signedOutAt: number | null = deps.now() - 1) => {
  const text = `update users set password_hash = 'x', imported_hash = sha256('x'),
    signed_out_at = to_timestamp($2::float8 / 1000) where sub = $1`;
  return database.query({ name: '', text }, [flow.person.sub, signedOutAt]);
};
/** Logs in; once the password is verified the import begins. */
async function logInWhile(importing: () => Promise<void>, sleep = deps.sleep) {
  const verifyPassword: typeof deps.verifyPassword = async (check) => {
    const verdict = await deps.verifyPassword(check);
    if (typeof verdict === 'object') await importing();
    return verdict;
  };
  return logIn(await beginForm(), { by: { ...deps, verifyPassword, sleep } });
}

test.each([
  ['signs out', undefined],
  ['keeps sessions', null],
])('a password that an import which %s replaces meanwhile opens nothing', async (_what, signedOutAt) => {
  const outcome = await logInWhile(async () => void (await replacePassword(identity.operator, signedOutAt)));
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

const signedIn = async (session: string) => (await getBrowserSession(deps, session)).account !== undefined;

test('a form goes on with a later session of its user, and asks another user for a login', async () => {
  const tab = await signIn(await beginForm());
  const inAnotherTab = async (who: Person) => {
    const form = await beginForm({ prompt: 'login' }, tab.browserSession);
    return { ...tab, browserSession: (await signIn(form, who)).browserSession };
  };
  const form = await inAnotherTab(await addPerson());
  expect(await submitConsent(deps, { ...form, decision: 'allow' })).toEqual({ kind: 'next', page: 'login' });
  expect((await getInteraction(deps, form)).kind).toBe('login');
  const same = await signIn(form);
  expect(answerOf(await submitConsent(deps, { ...same, decision: 'allow' })).get('code')).not.toBeNull();
});

test.each([
  ['disabled', 'disabled_at = now()'],
  ['signed out', "signed_out_at = now() + interval '1 second'"],
])('a login on a shared computer ends when its user is %s [R29.5]', async (_what, change) => {
  const form = await beginForm();
  await logIn(form, { forgetMe: true });
  expect((await getInteraction(deps, form)).kind).toBe('consent');
  await identity.sql(`update users set ${change} where sub = $1`, [flow.person.sub]);
  const consent = await submitConsent(deps, { ...form, decision: 'allow' });
  expect(consent).toEqual({ kind: 'next', page: 'login' });
});

const hour = 60 * 60_000;

test('the session of a login ends 1 hour after its last use; a look at it is no use [R29.1]', async () => {
  const session = await newSession();
  const use = () => begin({ prompt: 'none' }, session);
  clock.now += hour - 1;
  await use();
  clock.now += hour - 1;
  expect(await signedIn(session)).toBe(true);
  clock.now += 1;
  expect(await signedIn(session)).toBe(false);
  expect(answerOf(await use()).get('error')).toBe('login_required');
});

test('the session of a login ends 8 hours after it, used or not [R29.2]', async () => {
  const session = await newSession();
  const begun = clock.now;
  for (let nth = 1; nth < 16; nth += 1) {
    clock.now = begun + (nth * hour) / 2;
    await begin({ prompt: 'none' }, session);
  }
  clock.now = begun + 8 * hour - 1;
  expect(await signedIn(session)).toBe(true);
  clock.now += 1;
  expect(await signedIn(session)).toBe(false);
});

test('a session that has ended is not brought back by a use', async () => {
  const session = await newSession();
  const found = await findSession(redis, session, clock.now);
  await endSession(redis, session);
  expect(found && (await touchSession(redis, session, found, clock.now))).toBe(false);
  expect(await signedIn(session)).toBe(false);
});
