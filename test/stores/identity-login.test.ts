// Login on real stores: the interaction before it, which the browser has sealed while Redis learns nothing of it (R6.10),
// and the session that it begins.
import { randomBytes } from 'node:crypto';
import type { Queries } from '@course-exchange/runtime/postgres/pool';
import { Secret } from '@course-exchange/runtime/process/secret';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import {
  cancelAuthorization,
  submitAccountChoice,
  submitConsent,
} from '../../services/identity/src/authorize/choices.ts';
import type { PresentedForm } from '../../services/identity/src/authorize/form.ts';
import { formToken } from '../../services/identity/src/authorize/interaction.ts';
import { createInteractionSeal } from '../../services/identity/src/authorize/interaction-store.ts';
import { getInteraction } from '../../services/identity/src/authorize/page.ts';
import {
  endSession,
  findSession,
  touchSession,
} from '../../services/identity/src/authorize/session-store.ts';
import { getBrowserSession } from '../../services/identity/src/authorize/signed-in-user.ts';
import { answerOf, type Person, recordKey, useAuthorization } from './identity-authorization.ts';
import { addConsent, keyEncryptionKey } from './identity-grant.ts';
import { serverOf } from './redis-servers.ts';

const flow = await useAuthorization(3);
const { identity, redis, clock, deps, browsers, addPerson, begin, beginForm, logIn, signIn, newSession } =
  flow;

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

test('the session of a login may give way to one of the same user in another tab; one of somebody else asks the first tab for a login', async () => {
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

describe('an interaction before the first login', () => {
  let form: PresentedForm;

  beforeEach(async () => {
    form = await beginForm();
  });

  const stored = () => serverOf(redis).exists(recordKey(form));

  test('a request, a wrong password, another account and a cancellation store nothing', async () => {
    expect((await logIn(form, { typed: 'wrong' })).kind).toBe('rejected');
    const choice = await submitAccountChoice(deps, { ...form, useAnotherAccount: true });
    expect(choice).toMatchObject({ result: { kind: 'next', page: 'login' } });
    for (let times = 0; times < 2; times += 1)
      expect(answerOf(await cancelAuthorization(deps, form)).get('error')).toBe('access_denied');
    expect(await stored()).toBe(0);
  });

  test('the page of a sealed form, a refused one too, carries the same seal on', async () => {
    const refused = await logIn(form, { typed: 'wrong' });
    const { sealedInteraction } = form;
    expect(refused).toMatchObject({ view: { page: { sealedInteraction } } });
    expect(await getInteraction(deps, form)).toMatchObject({ kind: 'login', page: { sealedInteraction } });
    for (const foreign of [{ sealedInteraction: '' }, { interactionCookie: 'x'.repeat(43) }])
      expect(await getInteraction(deps, { ...form, ...foreign })).toEqual({ kind: 'expired' });
  });

  test('login stores it once: whatever else comes with the seal continues that record', async () => {
    const forms = Array.from({ length: 20 }, (_, nth) =>
      logIn(form, { by: browsers[nth % browsers.length] }),
    );
    for (const { kind } of await Promise.all(forms)) expect(kind).toBe('accepted');
    expect(await stored()).toBe(1);
    const other = await addPerson();
    await logIn(form, { who: other });
    const { subject } = JSON.parse((await serverOf(redis).get(recordKey(form))) ?? '');
    expect(subject.sub).toBe(other.sub);
  });

  test('one seal yields at most one code, however often it is presented', async () => {
    await addConsent(identity, flow.person.sub, flow.partner.clientId);
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => logIn(form)));
    const codes = outcomes.map((outcome) => answerOf(outcome).get('code'));
    expect(codes[0]).not.toBeNull();
    expect(new Set(codes).size).toBe(1);
    clock.now += 11_000;
    expect(answerOf(await logIn(form)).get('error')).toBe('invalid_request');
  });

  test('a seal is worth nothing to another browser, changed, of another key, or under another name', async () => {
    const cookie = 'x'.repeat(43);
    const foreign = { ...form, interactionCookie: cookie, formToken: formToken(cookie, 'form') };
    expect(answerOf(await logIn(foreign)).get('error')).toBe('invalid_request');
    const changed = {
      ...form,
      sealedInteraction: form.sealedInteraction.replace(/.$/, (end) => (end === 'A' ? 'Q' : 'A')),
    };
    const other = createInteractionSeal([new Secret(randomBytes(32))]);
    const renamed = { ...form, interactionId: 'A'.repeat(22) };
    expect((await logIn(form, { by: { ...deps, seal: other } })).kind).toBe('expired');
    for (const worthless of [changed, renamed]) expect((await logIn(worthless)).kind).toBe('expired');
    expect(await stored()).toBe(0);
  });

  test('both keys open it while KEY_ENCRYPTION_KEY is replaced', async () => {
    const both = createInteractionSeal([new Secret(randomBytes(32)), keyEncryptionKey]);
    expect((await logIn(form, { by: { ...deps, seal: both } })).kind).toBe('accepted');
  });

  test('it leads back to the partner after 30 minutes, nowhere after 90', async () => {
    clock.now += 30 * 60_000;
    expect(answerOf(await logIn(form)).get('error')).toBe('invalid_request');
    clock.now += 60 * 60_000;
    expect((await logIn(form)).kind).toBe('expired');
  });

  test('it is stored at once when a user is signed in, and the login form that asks again is not', async () => {
    const session = await newSession();
    form = await beginForm({}, session);
    expect([form.sealedInteraction, await stored()]).toEqual(['', 1]);
    form = await beginForm({ prompt: 'login' }, session);
    expect([form.sealedInteraction !== '', await stored()]).toEqual([true, 0]);
  });
});
