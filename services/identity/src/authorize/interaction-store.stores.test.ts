// What one account may leave in Redis after its login (R6.11): interactions, how they are stored, and codes.
import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { answerOf, recordKey, useAuthorization } from '../../../../test/stores/identity-authorization.ts';
import { redirectUri } from '../../../../test/stores/identity-grant.ts';
import { serverOf } from '../../../../test/stores/redis-servers.ts';
import type { ConsentId, FamilyId } from '../ids.ts';
import { hashSecret, newId } from '../secrets.ts';
import { countCode } from '../token/code-bound-store.ts';
import { createAuthorizationCode } from '../token/grant-store.ts';
import { cancelAuthorization, submitConsent } from './choices.ts';
import type { PresentedForm } from './form.ts';
import { findInteraction } from './interaction-store.ts';
import { getInteraction } from './page.ts';
import { createSession } from './session-store.ts';

const flow = await useAuthorization();
const { redis, clock, deps, addPerson, beginForm, logIn, signIn } = flow;
const server = serverOf(redis);

/** The cookie of a session without a login form: 300 of them would take a minute. */
async function newSession(): Promise<string> {
  const cookie = randomBytes(32).toString('base64url');
  await createSession(redis, cookie, { sub: flow.person.sub, authTime: clock.now, lastUsed: clock.now });
  return cookie;
}

/** `count` undecided interactions of a session, the oldest first; each is a millisecond younger than the one before. */
async function beginMany(session: string, count: number, changes = {}): Promise<PresentedForm[]> {
  const forms: PresentedForm[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    clock.now += 1;
    forms.push(await beginForm({ prompt: 'consent', ...changes }, session));
  }
  return forms;
}

const allow = (form: PresentedForm) => submitConsent(deps, { ...form, decision: 'allow' });

/** Which of `forms` still have a page. */
async function alive(forms: readonly PresentedForm[]): Promise<boolean[]> {
  const views = await Promise.all(forms.map((form) => getInteraction(deps, form)));
  return views.map(({ kind }) => kind !== 'expired');
}

const none = (count: number) => Array.from({ length: count }, () => false);
const all = (count: number) => Array.from({ length: count }, () => true);

describe('undecided interactions [R6.11 R6.12]', () => {
  test('a session has 16: the oldest goes, those of another session stay', async () => {
    const others = await beginMany(await newSession(), 16);
    const forms = await beginMany(await newSession(), 19);
    expect(await alive(forms)).toEqual([...none(3), ...all(16)]);
    expect(await alive(others)).toEqual(all(16));
    expect((await server.keys(`interaction:{all}:*decided:${flow.person.sub}`)).length).toBe(1);
  });

  test('a user has 64, with logins that were not kept too: the oldest goes, those of another user stay', async () => {
    const neighbour = await signIn(await beginForm(), await addPerson());
    const once = await beginForm();
    await logIn(once, { forgetMe: true });
    const forms: PresentedForm[] = [];
    for (let session = 0; session < 5; session += 1) forms.push(...(await beginMany(await newSession(), 13)));
    expect(await alive([{ ...once, sealedInteraction: '' }, ...forms])).toEqual([...none(2), ...all(64)]);
    expect(await alive([neighbour])).toEqual(all(1));
  });

  test('a decided one counts no more, and answers on; of those a user has 64 too', async () => {
    const session = await newSession();
    const [open, ...forms] = await beginMany(session, 16);
    for (const form of forms) await cancelAuthorization(deps, form);
    for (let nth = 0; nth < 50; nth += 1) {
      const [form] = await beginMany(session, 1);
      if (form) await cancelAuthorization(deps, form);
      if (form) forms.push(form);
    }
    expect(await alive(open ? [open] : [])).toEqual([true]);
    const answers = await Promise.all(forms.map((form) => cancelAuthorization(deps, form)));
    expect(answers.map(({ kind }) => kind !== 'expired')).toEqual([...none(1), ...all(64)]);
  });

  test('one that expired no longer counts, and one that another user took over counts for that one alone', async () => {
    const session = await newSession();
    const early = await beginMany(session, 16);
    clock.now += 30 * 60_000 - 24;
    const again = await newSession();
    const late = await beginMany(again, 16);
    expect(await server.zcard(`interaction:{all}:undecided:${flow.person.sub}`)).toBe(24);
    expect(await alive(early.slice(0, 1))).toEqual([false]);
    const other = await addPerson();
    await logIn(late[0] as PresentedForm, { who: other });
    expect(await server.zcard(`interaction:{all}:undecided:${other.sub}`)).toBe(1);
    await beginMany(again, 1);
    expect(await alive(late.slice(1))).toEqual(all(15));
  });
});

const worst = (byte: number) => String.fromCharCode(byte).repeat(2_048);

describe('the record', () => {
  const longest = {
    state: worst(0),
    nonce: worst(1),
    loginHint: worst(2).slice(0, 254),
    uiLocales: 'ü'.repeat(50),
  };

  test('takes at most 8 KiB, whatever state and nonce hold, and gives them back [R3.4 R3.8]', async () => {
    const [form] = await beginMany(await newSession(), 1, { ...longest, codeChallenge: 'c'.repeat(128) });
    if (!form) throw new Error('no form');
    expect(await server.memory('USAGE', recordKey(form))).toBeLessThanOrEqual(8_192);
    const found = await findInteraction(redis, form.interactionId);
    const interaction = found === 'closed' ? undefined : found?.interaction;
    expect(interaction?.request).toMatchObject(longest);
    expect(answerOf(await cancelAuthorization(deps, form)).get('state')).toBe(longest.state);
    expect(await server.memory('USAGE', recordKey(form))).toBeLessThanOrEqual(8_192);
  });

  test('a decision in the last seconds is repeated for 10 s all the same [R6.7]', async () => {
    const form = await signIn(await beginForm());
    clock.now += 30 * 60_000 - 1;
    await server.pexpire(recordKey(form), 5_000);
    await allow(form);
    expect(await server.pttl(recordKey(form))).toBeGreaterThan(5_000);
  });

  test('lives as long after a change as before it, its list too', async () => {
    const opened = await beginForm();
    clock.now += 20 * 60_000;
    const other = await addPerson();
    const form = await signIn(await signIn(opened), other);
    const left = await server.pttl(recordKey(form));
    expect(left).toBeGreaterThan(9 * 60_000);
    expect(left).toBeLessThanOrEqual(10 * 60_000);
    expect(await server.pttl(`interaction:{all}:undecided:${other.sub}`)).toBeGreaterThan(left);
  });

  test('that is decided and has to go leaves its seal worthless [R6.7]', async () => {
    const opened = await beginForm();
    const form = await signIn(opened);
    expect((await allow(form)).kind).toBe('redirect');
    clock.now += 11_000;
    for (let nth = 0; nth < 4; nth += 1)
      for (const other of await beginMany(form.browserSession, 16)) await cancelAuthorization(deps, other);
    expect((await logIn(opened)).kind).toBe('expired');
    expect(await server.pttl(recordKey(form))).toBeGreaterThan(0);
  });

  test('is stored once, where two people log in by one seal at the same time', async () => {
    const form = await beginForm();
    const people = [flow.person, await addPerson()];
    await Promise.all(people.map((one) => logIn(form, { who: one })));
    const lists = people.map(({ sub }) => `interaction:{all}:undecided:${sub}`);
    const listed = await Promise.all(lists.map((list) => server.zcard(list)));
    expect(listed.sort()).toEqual([0, 1]);
  });
});

/** A code as a signed-in browser gets it without a page, with the longest nonce. */
async function issueSilently(): Promise<FamilyId> {
  const familyId = newId<FamilyId>(randomBytes);
  await countCode(redis, { ...flow.person, familyId }, clock.now);
  const grant = {
    ...flow.person,
    familyId,
    clientId: flow.partner.clientId,
    redirectUri,
    scopes: ['openid'] as const,
  };
  const hash = hashSecret(familyId);
  const consentId = newId<ConsentId>(randomBytes);
  const rest = { nonce: worst(1), pkce: undefined, authTime: undefined, loggedInAt: clock.now };
  await createAuthorizationCode(redis, { ...grant, hash, consentId, ...rest });
  return familyId;
}

test('the latest 1,000 codes of a user stay, and each that was exchanged: it may be replayed [R10.2 R11.9]', async () => {
  const [used, unused] = [await issueSilently(), await issueSilently()];
  await server.hset(`code:{${used}}`, 'used', 1);
  let latest = used;
  for (let nth = 0; nth < 1_000; nth += 1) latest = await issueSilently();
  const kept = [used, unused, latest].map((familyId) => server.exists(`code:{${familyId}}`));
  expect(await Promise.all(kept)).toEqual([1, 0, 1]);
  expect(await server.zcard(`code:of:{${flow.person.sub}}`)).toBe(1_000);
  expect(await server.memory('USAGE', `code:{${latest}}`, 'SAMPLES', 0)).toBeLessThanOrEqual(5 * 1_024);
});
