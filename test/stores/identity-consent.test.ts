// The decision of a transaction on real stores: raced, repeated, foreign, expired, and cut off between its steps.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { AuthorizationDependencies } from '../../services/identity/src/authorization/dependencies.ts';
import { getInteraction } from '../../services/identity/src/authorization/get-interaction.ts';
import type { PresentedForm } from '../../services/identity/src/authorization/held-form.ts';
import {
  cancelAuthorization,
  submitConsent,
} from '../../services/identity/src/authorization/submit-consent.ts';
import { parseToken } from '../../services/identity/src/domain/token-string.ts';
import type { TokenEndpoint } from '../../services/identity/src/grants/token-endpoint.ts';
import { readAuthorizationCode } from '../../services/identity/src/store/redis/authorization-codes.ts';
import type { ReplicatedStore } from '../../services/identity/src/store/redis/replication.ts';
import {
  addPerson,
  answerOf,
  begin,
  beginForm,
  type Clock,
  openAuthorizations,
  type Person,
  signIn,
} from './identity-authorization.ts';
import { addPartner, openEndpoint, outcomeOf, type Partner, requestExchange } from './identity-grant.ts';
import { type IdentityDatabase, openIdentityDatabase, openRedis, serverOf } from './identity-stores.ts';

const racers = 50;
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
  connections = await openRedis(racers);
  endpoint = await openEndpoint(identity, connections[0] as ReplicatedStore);
  browsers = await openAuthorizations(endpoint, connections, clock);
  deps = browsers[0] as AuthorizationDependencies;
});

afterAll(async () => {
  await Promise.all(connections.map(({ close }) => close()));
  await identity.close();
});

beforeEach(async () => {
  clock.now = Date.now();
  partner = await addPartner(identity);
  person = await addPerson(identity);
});

async function consentForm(): Promise<PresentedForm> {
  return signIn(deps, await beginForm(deps, partner.clientId), person);
}

/** The form as the page that is shown now would send it. */
async function shownForm(form: PresentedForm): Promise<PresentedForm> {
  const view = await getInteraction(deps, form);
  if (view.kind !== 'consent') throw new Error(`the page is ${view.kind}`);
  return { ...form, formToken: view.page.formToken };
}

function allow(form: PresentedForm, by = deps) {
  return submitConsent(by, { ...form, decision: 'allow' });
}

async function consents(): Promise<unknown[]> {
  return identity.sql('select consent_id from consents where sub = $1', [person.sub]);
}

async function codeKeys(): Promise<number> {
  return (await serverOf(connections[0]).keys('code:*'))?.length ?? 0;
}

describe('one decision, one code', () => {
  test(`of ${racers} submits of one consent form all get the same redirect and there is one code [R6.7]`, async () => {
    const form = await consentForm();
    const before = await codeKeys();
    const moves = await Promise.all(browsers.map((browser) => allow(form, browser)));
    const codes = new Set(moves.map((move) => answerOf(move).get('code')));
    expect(codes.size).toBe(1);
    expect(await codeKeys()).toBe(before + 1);
    expect(await consents()).toHaveLength(1);
    const [code = ''] = codes;
    expect(answerOf(moves[0] ?? {}).get('state')).toBe('a b');
    expect(await outcomeOf(requestExchange(endpoint, partner, code ?? ''))).toBe('tokens');
  });

  test('of allow and deny at once the first stands and the other changes nothing', async () => {
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
    await requestExchange(endpoint, partner, code);
    // A replay kills the refresh family too (R10): nothing of the code is left in the store.
    expect(await outcomeOf(requestExchange(endpoint, partner, code))).toBe('invalid_grant');
    clock.now += 9_999;
    expect(answerOf(await allow(form)).get('code')).toBe(code);
    expect(await outcomeOf(requestExchange(endpoint, partner, code))).toBe('invalid_grant');
    expect((await getInteraction(deps, form)).kind).toBe('redirect');
    clock.now += 1;
    expect(answerOf(await allow(form)).get('error')).toBe('invalid_request');
    expect((await getInteraction(deps, form)).kind).toBe('expired');
  });

  test('the store holds no code, binding or form token in plain', async () => {
    const form = await consentForm();
    const code = answerOf(await allow(form)).get('code') ?? '';
    const family = parseToken(code)?.family ?? '';
    const secret = code.slice(family.length);
    const raw = (await serverOf(connections[0]).get(`interaction:${form.interactionId}`)) ?? '';
    const fields = JSON.stringify(await serverOf(connections[0]).hgetall(`code:{${family}}`));
    for (const text of [secret, form.binding, form.formToken, form.browserSession])
      expect(raw + fields).not.toContain(text);
  });
});

describe('crash points of a decision', () => {
  const crash = () => Promise.reject(new Error('crash'));

  test('after the decision was recorded, before the consent: a repeat makes consent and code', async () => {
    const form = await consentForm();
    await expect(allow(form, { ...deps, grantConsent: crash })).rejects.toThrow('crash');
    expect(await consents()).toHaveLength(0);
    const code = answerOf(await allow(form)).get('code') ?? '';
    expect(await outcomeOf(requestExchange(endpoint, partner, code))).toBe('tokens');
  });

  test('after the consent, before the code: a reload makes the code under the same consent', async () => {
    const form = await consentForm();
    await expect(allow(form, { ...deps, createAuthorizationCode: crash })).rejects.toThrow('crash');
    const [consent] = await consents();
    const code = answerOf(await getInteraction(deps, form)).get('code') ?? '';
    expect(await consents()).toEqual([consent]);
    expect(await outcomeOf(requestExchange(endpoint, partner, code))).toBe('tokens');
  });

  test('after the code, before it is marked: a repeat gives the same code, never a second', async () => {
    const form = await consentForm();
    let replacements = 0;
    const replaceInteraction: typeof deps.replaceInteraction = (held, next) => {
      replacements += 1;
      return replacements === 2 ? crash() : deps.replaceInteraction(held, next);
    };
    await expect(allow(form, { ...deps, replaceInteraction })).rejects.toThrow('crash');
    const before = await codeKeys();
    const code = answerOf(await allow(form)).get('code') ?? '';
    expect(await codeKeys()).toBe(before);
    expect(await outcomeOf(requestExchange(endpoint, partner, code))).toBe('tokens');
  });

  test('without a repeat there is a decision without a code, and the form is dead after 10 s', async () => {
    const form = await consentForm();
    await expect(allow(form, { ...deps, createAuthorizationCode: crash })).rejects.toThrow('crash');
    clock.now += 10_000;
    expect(answerOf(await allow(form)).get('error')).toBe('invalid_request');
  });
});

describe('foreign and expired forms [R6.3 R6.6]', () => {
  test('a foreign form redirects with invalid_request and the owner goes on', async () => {
    const form = await consentForm();
    const before = await serverOf(connections[0]).get(`interaction:${form.interactionId}`);
    for (const foreign of [
      { ...form, binding: 'x'.repeat(43) },
      { ...form, formToken: 'x' },
      { ...form, binding: '', formToken: '' },
    ]) {
      const answer = answerOf(await allow(foreign));
      expect([answer.get('error'), answer.get('state')]).toEqual(['invalid_request', 'a b']);
      expect(answerOf(await cancelAuthorization(deps, foreign)).get('error')).toBe('invalid_request');
    }
    expect((await getInteraction(deps, { ...form, binding: 'x'.repeat(43) })).kind).toBe('expired');
    expect(await serverOf(connections[0]).get(`interaction:${form.interactionId}`)).toBe(before);
    expect(answerOf(await allow(form)).get('code')).not.toBeNull();
  });

  test('an expired form redirects with invalid_request for an hour; the record lives that long', async () => {
    const form = await consentForm();
    const ttl = (await serverOf(connections[0]).pttl(`interaction:${form.interactionId}`)) ?? 0;
    expect(ttl).toBeGreaterThan(89 * 60_000);
    clock.now += 30 * 60_000;
    expect(answerOf(await allow(form)).get('error')).toBe('invalid_request');
    expect((await getInteraction(deps, form)).kind).toBe('expired');
    await serverOf(connections[0]).del(`interaction:${form.interactionId}`);
    expect((await allow(form)).kind).toBe('expired');
    expect((await allow({ ...form, interactionId: '../x' })).kind).toBe('expired');
  });
});

describe('what is checked again at the decision [R6.5]', () => {
  test('a deactivated client is invalid_client, directly', async () => {
    const form = await consentForm();
    await identity.sql('update clients set active = false where client_id = $1', [partner.clientId]);
    await expect(allow(form)).rejects.toMatchObject({ code: 'invalid_client' });
    expect(await consents()).toHaveLength(0);
  });

  test('a redirect URI taken away is invalid_redirect_uri, directly', async () => {
    const form = await consentForm();
    await identity.sql("update clients set redirect_uris = '{https://other.example/}' where client_id = $1", [
      partner.clientId,
    ]);
    await expect(allow(form)).rejects.toMatchObject({ code: 'invalid_redirect_uri' });
    await expect(cancelAuthorization(deps, form)).rejects.toMatchObject({ code: 'invalid_redirect_uri' });
  });

  test('a scope no longer approved is invalid_scope, by redirect', async () => {
    const form = await consentForm();
    await identity.sql("update clients set scopes = '{openid}' where client_id = $1", [partner.clientId]);
    expect(answerOf(await allow(form)).get('error')).toBe('invalid_scope');
    expect(await consents()).toHaveLength(0);
  });

  test('a disabled user comes to the login form, and the session is gone [R29.5]', async () => {
    const form = await consentForm();
    await identity.sql('update users set disabled_at = now() where sub = $1', [person.sub]);
    expect((await allow(form)).kind).toBe('next');
    expect((await getInteraction(deps, form)).kind).toBe('login');
    await identity.sql('update users set disabled_at = null where sub = $1', [person.sub]);
    expect((await allow(form)).kind).toBe('next');
  });

  test('a user signed out by the operator comes to the login form', async () => {
    const form = await consentForm();
    await identity.sql("update users set signed_out_at = now() + interval '1 minute' where sub = $1", [
      person.sub,
    ]);
    expect((await allow(form)).kind).toBe('next');
  });
});

test('a consent is remembered; extended for a new scope it stays the same consent [R6.1 R6.2 R13.6]', async () => {
  const form = await consentForm();
  await allow(form);
  const [first] = (await consents()) as { consent_id: string }[];
  const again = await begin(deps, partner.clientId, {}, form.browserSession);
  const code = answerOf(again).get('code') ?? '';
  const kept = await readAuthorizationCode(
    connections[0] as ReplicatedStore,
    parseToken(code)?.family as never,
  );
  expect(kept?.consentId).toBe(first?.consent_id);
  const wider = await beginForm(deps, partner.clientId, { scope: 'openid profile' }, form.browserSession);
  const view = await getInteraction(deps, wider);
  expect(view).toMatchObject({
    kind: 'consent',
    scopes: ['openid', 'profile'],
    scopesGrantedBefore: ['openid'],
  });
  await allow(wider);
  expect(await consents()).toEqual([first]);
  const found = await deps.findConsent(person.sub, partner.clientId);
  expect(new Set(found?.scopes)).toEqual(new Set(['openid', 'email', 'profile']));
});

test('a consent page left open under another account agrees to nothing for the one who is signed in now', async () => {
  const [other, opened] = [await addPerson(identity), await beginForm(deps, partner.clientId)];
  const stale = await shownForm(await signIn(deps, opened, other));
  const current = await signIn(deps, opened, person);
  expect(await allow({ ...stale, browserSession: current.browserSession })).toEqual({ kind: 'next' });
  expect((await allow(await shownForm(current))).kind).toBe('redirect');
});
