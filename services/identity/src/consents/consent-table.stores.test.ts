// The decision of an interaction on real stores: raced, repeated, foreign, expired, and cut off between its steps.
import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { answerOf, type FlowDeps, useAuthorization } from '../../../../test/stores/identity-authorization.ts';
import { outcomeOf } from '../../../../test/stores/identity-grant.ts';
import { serverOf } from '../../../../test/stores/redis-servers.ts';
import { cancelAuthorization, submitConsent } from '../authorize/choices.ts';
import type { PresentedForm } from '../authorize/form.ts';
import { getInteraction } from '../authorize/page.ts';
import type { ConsentId } from '../ids.ts';
import type { RedisStore } from '../redis/connect.ts';
import { newId } from '../secrets.ts';
import { grantConsent } from './consent-table.ts';

const racers = 50;
const flow = await useAuthorization(racers);
const { identity, redis, exchange, clock, deps, browsers, addPerson, beginForm, signIn } = flow;

const consentForm = async () => signIn(await beginForm());

/** The form as the page that is shown now would send it. */
async function shownForm(form: PresentedForm): Promise<PresentedForm> {
  const view = await getInteraction(deps, form);
  if (view.kind !== 'consent') throw new Error(`the page is ${view.kind}`);
  return { ...form, formToken: view.page.formToken };
}

const allow = (form: PresentedForm, by = deps) => submitConsent(by, { ...form, decision: 'allow' });
const consents = () => identity.sql('select consent_id from consents where sub = $1', [flow.person.sub]);
const codeKeys = async () => (await serverOf(redis).keys('code:{*')).length;

test(`all of ${racers} submits of one consent form get the same redirect and there is one code [R6.7]`, async () => {
  const form = await consentForm();
  const before = await codeKeys();
  const moves = await Promise.all(browsers.map((browser) => allow(form, browser)));
  const codes = new Set(moves.map((move) => answerOf(move).get('code')));
  expect(codes.size).toBe(1);
  expect(await codeKeys()).toBe(before + 1);
  expect(await consents()).toHaveLength(1);
  const [code = ''] = codes;
  expect(answerOf(moves[0] ?? {}).get('state')).toBe('a b');
  expect(await outcomeOf(exchange(code ?? ''))).toBe('tokens');
});

test('the first of allow and deny at once stands and the other changes nothing', async () => {
  const form = await consentForm();
  const moves = await Promise.all(
    browsers.map((browser, i) => submitConsent(browser, { ...form, decision: i % 2 ? 'allow' : 'deny' })),
  );
  const answers = new Set(moves.map((move) => answerOf(move).get('error') ?? 'code'));
  const denied = answers.has('access_denied');
  expect(answers).toEqual(new Set([denied ? 'access_denied' : 'code', 'invalid_request']));
  expect(await consents()).toHaveLength(denied ? 0 : 1);
});

test('a repeat after the exchange gives the same redirect and no new code, a later one none [R6.7]', async () => {
  const form = await consentForm();
  const code = answerOf(await allow(form)).get('code') ?? '';
  await exchange(code);
  // A replay also revokes the refresh family (R10.2).
  expect(await outcomeOf(exchange(code))).toBe('invalid_grant');
  clock.now += 9_999;
  expect(answerOf(await allow(form)).get('code')).toBe(code);
  expect(await outcomeOf(exchange(code))).toBe('invalid_grant');
  expect((await getInteraction(deps, form)).kind).toBe('redirect');
  clock.now += 1;
  expect(answerOf(await allow(form)).get('error')).toBe('invalid_request');
  expect((await getInteraction(deps, form)).kind).toBe('expired');
});

test('the login form’s token decides nothing on the consent page: it names no account [R6.6]', async () => {
  const begun = await beginForm();
  const form = { ...(await signIn(begun)), formToken: begun.formToken };
  expect(await allow(form)).toEqual({ kind: 'next', page: 'consent' });
  expect(await consents()).toHaveLength(0);
  expect(answerOf(await allow(await shownForm(form))).get('code')).not.toBeNull();
});

describe('crash points of a decision', () => {
  const crash = () => Promise.reject(new Error('crash'));

  /** The process dies before the `nth` Redis operation of that name. */
  function dyingBefore(operation: string, nth = 1): FlowDeps {
    let calls = 0;
    const run: RedisStore['run'] = (name, key, work) => {
      if (name === operation) calls += 1;
      return name === operation && calls === nth ? crash() : deps.redis.run(name, key, work);
    };
    return { ...deps, redis: { ...deps.redis, run } };
  }

  test('after the decision was recorded, before the consent: a repeat makes consent and code', async () => {
    const form = await consentForm();
    const { database } = deps;
    const query: typeof database.query = (statement, values) =>
      statement.name === 'grant consent' ? crash() : database.query(statement, values);
    await expect(allow(form, { ...deps, database: { ...database, query } })).rejects.toThrow('crash');
    expect(await consents()).toHaveLength(0);
    const code = answerOf(await allow(form)).get('code') ?? '';
    expect(await outcomeOf(exchange(code))).toBe('tokens');
  });

  test('after the consent, before the code: a reload makes the code under the same consent', async () => {
    const form = await consentForm();
    await expect(allow(form, dyingBefore('create authorization code'))).rejects.toThrow('crash');
    const [consent] = await consents();
    const code = answerOf(await getInteraction(deps, form)).get('code') ?? '';
    expect(await consents()).toEqual([consent]);
    expect(await outcomeOf(exchange(code))).toBe('tokens');
  });

  test('after the code, before it is marked: a repeat gives the same code, never a second', async () => {
    const form = await consentForm();
    await expect(allow(form, dyingBefore('replace interaction', 2))).rejects.toThrow('crash');
    const before = await codeKeys();
    const code = answerOf(await allow(form)).get('code') ?? '';
    expect(await codeKeys()).toBe(before);
    expect(await outcomeOf(exchange(code))).toBe('tokens');
  });

  test('without a repeat there is a decision without a code, and the form is dead after 10 s', async () => {
    const form = await consentForm();
    await expect(allow(form, dyingBefore('create authorization code'))).rejects.toThrow('crash');
    clock.now += 10_000;
    expect(answerOf(await allow(form)).get('error')).toBe('invalid_request');
  });
});

describe('checks repeated at the decision [R6.5]', () => {
  const change = (assignment: string) =>
    identity.sql(`update clients set ${assignment} where client_id = $1`, [flow.partner.clientId]);
  const changeUser = (assignment: string) =>
    identity.sql(`update users set ${assignment} where sub = $1`, [flow.person.sub]);

  test.each([
    ['deactivated', 'active = false', 'invalid_client'],
    ['without its redirect URI', "redirect_uris = '{https://other.example/}'", 'invalid_redirect_uri'],
  ])('a client that is %s gets no answer', async (_, assignment, code) => {
    const form = await consentForm();
    await change(assignment);
    await expect(allow(form)).rejects.toMatchObject({ code });
    await expect(cancelAuthorization(deps, form)).rejects.toMatchObject({ code });
    expect(await consents()).toHaveLength(0);
  });

  test('a scope no longer approved is invalid_scope, by redirect', async () => {
    const form = await consentForm();
    await change("scopes = '{openid}'");
    expect(answerOf(await allow(form)).get('error')).toBe('invalid_scope');
  });

  test.each([
    ['disabled', 'disabled_at = now()'],
    ['signed out by the operator', "signed_out_at = now() + interval '1 minute'"],
  ])('a user who is %s comes to the login form, and stays there [R29.5]', async (_, assignment) => {
    const form = await consentForm();
    await changeUser(assignment);
    expect(await allow(form)).toEqual({ kind: 'next', page: 'login' });
    await changeUser('disabled_at = null, signed_out_at = null');
    expect((await getInteraction(deps, form)).kind).toBe('login');
  });
});

test('the page says which scopes were granted before', async () => {
  const form = await consentForm();
  await allow(form);
  const wider = await beginForm({ scope: 'openid profile' }, form.browserSession);
  const asked = { kind: 'consent', scopes: ['openid', 'profile'], scopesGrantedBefore: ['openid'] };
  expect(await getInteraction(deps, wider)).toMatchObject(asked);
});

test('a consent page left open under another account agrees to nothing for the one who is signed in now', async () => {
  const [other, opened] = [await addPerson(), await beginForm()];
  const stale = await shownForm(await signIn(opened, other));
  const current = await signIn(opened);
  const { browserSession } = current;
  expect(await allow({ ...stale, browserSession })).toEqual({ kind: 'next', page: 'consent' });
  expect((await allow(await shownForm(current))).kind).toBe('redirect');
});

test('fifty agreements of one user and client at once make one consent', async () => {
  const pair = { sub: flow.person.sub, clientId: flow.partner.clientId, scopes: ['openid'] as const };
  const agree = () => grantConsent(identity.database, newId<ConsentId>(randomBytes), pair);
  const all = await Promise.all(Array.from({ length: 50 }, agree));
  expect(new Set(all.map(({ consentId }) => consentId)).size).toBe(1);
});
