// What the browser flow and operators log and count (R33.1, R33.2).
import { beforeEach, expect, test } from 'vitest';
import { useAuthorization } from '../../../test/stores/identity-authorization.ts';
import { addConsent, addUser, hashOf, recordRequests } from '../../../test/stores/identity-grant.ts';
import { anna, dry, openOperatorContext } from '../../../test/stores/operator-context.ts';
import { cancelAuthorization, submitAccountChoice, submitConsent } from './authorize/choices.ts';
import { getInteraction } from './authorize/page.ts';
import { endBrowserSession, getBrowserSession } from './authorize/signed-in-user.ts';
import { withdrawConsent } from './consents/admin.ts';
import type { ClientId } from './ids.ts';

const { log, told, refused, counted } = await recordRequests();
const flow = await useAuthorization(1, log);
const { identity, clock, deps, begin, beginForm, logIn, signIn, newSession } = flow;

let client: ClientId;
let user: string;
beforeEach(() => {
  client = flow.partner.clientId;
  user = hashOf(flow.person.sub);
});
const disable = (at: string) =>
  identity.sql(`update users set disabled_at = ${at} where sub = $1`, [flow.person.sub]);

test('tells of each login with its network, and why it was refused [R33.1]', async () => {
  const address = '2001:db8:7:1::1';
  const network = hashOf('network 2001:db8:7:1::/64');
  const form = await beginForm();
  const event = 'login.refused';
  const unknown = { email: `nobody-${flow.person.email}` };
  const odd = `odd-${flow.person.email}`;
  const sub = await addUser(identity, odd, '$argon2id$v=19$m=64,t=1,p=1$c2FsdA$aWh06vD8Fy27wf9npn6FXQ');
  await logIn(form, { address, typed: '' });
  await logIn(form, { who: unknown, address });
  await logIn(form, { address, typed: 'wrong' });
  await logIn(form, { who: { email: odd }, address });
  await disable('now()');
  await logIn(form, { address });
  await disable('null');
  expect(told()).toEqual([
    { event, client, network, reason: 'incomplete' },
    { event, client, network, reason: 'unknown_user' },
    { event, client, user, network, reason: 'wrong_password' },
    { event, client, user: hashOf(sub), network, reason: 'unverifiable_hash' },
    { event, client, user, network, reason: 'user_disabled' },
  ]);
  await logIn(form, { address, forgetMe: true });
  expect(told()).toEqual([{ event: 'login.accepted', client, user, network }]);
  for (let i = 0; i < 5; i += 1) await logIn(form, { who: unknown, address });
  told();
  await logIn(form, { who: unknown, address });
  expect(told()).toEqual([{ event: 'login.throttled', client, network }]);
});

test('tells when a session begins and what ends it [R33.1]', async () => {
  const session = () => newSession();
  const signedIn = () => [
    expect.objectContaining({ event: 'login.accepted' }),
    { event: 'session.begun', client, user },
  ];
  const [first, second] = [await session(), await session()];
  expect(told()).toEqual([...signedIn(), ...signedIn()]);
  await logIn(await beginForm({ prompt: 'login' }, first));
  expect(told()).toEqual([
    signedIn()[0],
    { event: 'session.ended', client, user, reason: 'new_login' },
    signedIn()[1],
  ]);
  const form = await beginForm({}, second);
  await submitAccountChoice(deps, { ...form, useAnotherAccount: true });
  expect(told()).toEqual([{ event: 'session.ended', client, user, reason: 'another_account' }]);
  const third = await session();
  const { formToken } = await getBrowserSession(deps, third);
  const fourth = await session();
  told();
  for (let again = 0; again < 2; again += 1) await endBrowserSession(deps, third, formToken);
  expect(told()).toEqual([{ event: 'session.ended', user, reason: 'sign_out' }]);
  await disable('now()');
  await getBrowserSession(deps, fourth);
  expect(told()).toEqual([{ event: 'session.ended', user, reason: 'user_disabled' }]);
});

test('tells of a consent once, however often its form is sent [R33.1]', async () => {
  const form = await signIn(await beginForm());
  told();
  for (let again = 0; again < 2; again += 1) await submitConsent(deps, { ...form, decision: 'allow' });
  expect(told()).toEqual([{ event: 'consent.given', client, user }]);
  await begin({}, form.browserSession);
  expect(told()).toEqual([]);
  const again = await beginForm({ prompt: 'consent' }, form.browserSession);
  for (let i = 0; i < 2; i += 1) await submitConsent(deps, { ...again, decision: 'deny' });
  await cancelAuthorization(deps, await beginForm());
  // The second was cancelled before a login.
  expect(told()).toEqual([
    { event: 'consent.denied', client, user },
    { event: 'consent.denied', client },
  ]);
});

test('tells of a consent that an operator withdrew, once it is withdrawn [R33.1]', async () => {
  await addConsent(identity, flow.person.sub, client, ['openid']);
  const context = openOperatorContext(identity, { observe: log.observe });
  const named = { user: { sub: flow.person.sub }, clientId: client };
  await withdrawConsent(context, dry, named);
  expect(told()).toEqual([]);
  await withdrawConsent(context, anna, named);
  expect(told()).toEqual([{ event: 'consent.withdrawn', client, user }]);
});

test.each([
  [{ scope: 'openid canary' }, 'invalid_scope', 'unknown_scope'],
  [{ responseType: 'canary' }, 'unsupported_response_type', 'response_type'],
  [{ prompt: 'none' }, 'login_required', 'prompt_none_login'],
  [{ request: 'canary' }, 'request_not_supported', 'request'],
])('a refused authorization names the client that exists, and why: %j', async (changes, code, reason) => {
  const answer = begin(changes).then(
    (result) => ('error' in result ? result.error : result.kind),
    (failure) => failure.code,
  );
  expect(await answer).toBe(code);
  expect(refused()).toEqual([[code, reason, client]]);
  expect(await counted('authorizations_refused', client)).toEqual([[code, reason, 1]]);
});

test('a client that does not exist is named nowhere, one that is inactive is', async () => {
  await identity.sql('update clients set active = false where client_id = $1', [client]);
  for (const named of ['', 'made-up', client] as ClientId[])
    await expect(begin({ clientId: named })).rejects.toMatchObject({ code: 'invalid_client' });
  expect(refused().map(([, ...line]) => line)).toEqual([
    ['client_id_missing', undefined],
    ['unknown_client', undefined],
    ['inactive_client', client],
  ]);
  expect(await counted('authorizations_refused', 'made-up')).toEqual([]);
});

test('a refusal that is a security event is counted once, and has no second line (R33.1)', async () => {
  expect(await begin({ idTokenHint: 'x' })).toMatchObject({ error: 'invalid_request' });
  const form = await signIn(await beginForm());
  const denied = await submitConsent(deps, { ...form, decision: 'deny' });
  // The browser goes back, and sends its form again (R6.7).
  expect(await getInteraction(deps, form)).toEqual(denied);
  expect(await submitConsent(deps, { ...form, decision: 'deny' })).toEqual(denied);
  expect(refused()).toEqual([]);
  expect(await counted('authorizations_refused', client)).toEqual([
    ['invalid_request', 'id_token_hint_refused', 1],
    ['access_denied', 'consent_denied', 1],
  ]);
});

test('missing consent under prompt=none, a foreign form and an expired one have different reasons', async () => {
  const form = await signIn(await beginForm());
  await begin({ prompt: 'none' }, form.browserSession);
  await logIn({ ...form, interactionCookie: 'x' });
  clock.now += 31 * 60_000;
  await logIn(form);
  expect(refused()).toEqual([
    ['consent_required', 'prompt_none_consent', client],
    ['invalid_request', 'form_of_another_browser', client],
    ['invalid_request', 'form_came_too_late', client],
  ]);
});
