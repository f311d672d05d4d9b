// The interaction before a login, which the browser has sealed while Redis learns nothing of it (R6.10).
import { randomBytes } from 'node:crypto';
import { Secret } from '@course-exchange/runtime/process/secret';
import { beforeEach, expect, test } from 'vitest';
import { answerOf, recordKey, useAuthorization } from '../../../../test/stores/identity-authorization.ts';
import { addConsent, keyEncryptionKey } from '../../../../test/stores/identity-grant.ts';
import { serverOf } from '../../../../test/stores/redis-servers.ts';
import { cancelAuthorization, submitAccountChoice } from './choices.ts';
import type { PresentedForm } from './form.ts';
import { formToken } from './interaction.ts';
import { createInteractionSeal } from './interaction-store.ts';
import { getInteraction } from './page.ts';

const flow = await useAuthorization(3);
const { identity, redis, clock, deps, browsers, addPerson, beginForm, logIn, newSession } = flow;

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
  const forms = Array.from({ length: 20 }, (_, nth) => logIn(form, { by: browsers[nth % browsers.length] }));
  for (const { kind } of await Promise.all(forms)) expect(kind).toBe('accepted');
  expect(await stored()).toBe(1);
  const other = await addPerson();
  await logIn(form, { who: other });
  const { subject } = JSON.parse((await serverOf(redis).get(recordKey(form))) ?? '');
  expect(subject.sub).toBe(other.sub);
});

test('a record of another version is an expired form, which its seal does not begin again', async () => {
  await logIn(form);
  const [server, key] = [serverOf(redis), recordKey(form)];
  const record = JSON.parse((await server.get(key)) ?? '');
  const viewOf = async (version: number | undefined) => {
    await server.set(key, JSON.stringify({ ...record, version }), 'KEEPTTL');
    return (await getInteraction(deps, { ...form, sealedInteraction: '' })).kind;
  };
  expect(await viewOf(undefined)).toBe('login');
  expect(await viewOf(2)).toBe('expired');
  expect((await logIn(form)).kind).toBe('expired');
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

test('a form whose cookie is gone starts its request anew, stores nothing, and counts no failure [R6.13]', async () => {
  const gone = { ...form, interactionCookie: '', cookieGone: true };
  const again = await logIn(form, { ...gone, typed: 'wrong' });
  if (again.kind !== 'interaction' || again.login === undefined) throw new Error(`ended as ${again.kind}`);
  const { interactionId, interactionCookie, login } = again;
  const { sealedInteraction, formToken } = login.page;
  expect([login.email, again.page, interactionId === form.interactionId]).toEqual([
    flow.person.email,
    'login',
    false,
  ]);
  expect(await stored()).toBe(0);
  const next = { ...form, interactionId, interactionCookie, sealedInteraction, formToken };
  expect((await logIn(next)).kind).toBe('accepted');
  expect((await logIn(form)).kind).toBe('accepted');
});

test('without its seal a form whose cookie is gone starts nothing, also of an interaction that is stored [R6.13]', async () => {
  const gone = { ...form, interactionCookie: '' };
  await flow.signIn(form);
  for (const sealedInteraction of ['', 'x', (await beginForm()).sealedInteraction]) {
    const outcome = await logIn({ ...gone, sealedInteraction }, { cookieGone: true });
    expect(answerOf(outcome).get('error')).toBe('invalid_request');
  }
  expect((await logIn(gone, { cookieGone: true })).kind).toBe('interaction');
});

test('a form whose cookie is gone comes too late after 30 minutes, and after the decision [R6.3]', async () => {
  await addConsent(identity, flow.person.sub, flow.partner.clientId);
  const late = await beginForm();
  expect(answerOf(await logIn(form)).get('code')).not.toBeNull();
  expect(answerOf(await logIn(form, { cookieGone: true })).get('error')).toBe('invalid_request');
  clock.now += 30 * 60_000;
  expect(answerOf(await logIn(late, { cookieGone: true })).get('error')).toBe('invalid_request');
  clock.now += 60 * 60_000;
  expect((await logIn(late, { cookieGone: true })).kind).toBe('expired');
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
