// Security events of the browser flow and of operators: the line of each case (R33).
import { beforeEach, expect, test } from 'vitest';
import { submitAccountChoice } from '../../services/identity/src/authorize/account.ts';
import { cancelAuthorization, submitConsent } from '../../services/identity/src/authorize/consent.ts';
import {
  endBrowserSession,
  getBrowserSession,
} from '../../services/identity/src/authorize/signed-in-user.ts';
import { withdrawConsent } from '../../services/identity/src/consents/admin.ts';
import type { ClientId } from '../../services/identity/src/ids.ts';
import {
  addPerson,
  begin,
  beginForm,
  logIn,
  type Person,
  sessionOf,
  signIn,
  useAuthorization,
} from './identity-authorization.ts';
import { addConsent, addPartner } from './identity-grant.ts';
import { anna, dry, openAdminContext } from './operator-context.ts';
import { hashOf, recordSecurityEvents } from './security-event-log.ts';

const { told, onSecurityEvent } = recordSecurityEvents();
const { identity, ...opened } = await useAuthorization();
const deps = { ...opened.deps, onSecurityEvent };

let client: ClientId;
let person: Person;
let user: string;
beforeEach(async () => {
  client = (await addPartner(identity)).clientId;
  person = await addPerson(identity);
  user = hashOf(person.sub);
});
const disable = (at: string) =>
  identity.sql(`update users set disabled_at = ${at} where sub = $1`, [person.sub]);

test('tells of each login with its network, and why it was refused [R33.1]', async () => {
  const address = '2001:db8:7:1::1';
  const network = hashOf('network 2001:db8:7:1::/64');
  const form = await beginForm(deps, client);
  const event = 'login.refused';
  const unknown = { email: `nobody-${person.email}` };
  await logIn(deps, form, person, { address, typed: '' });
  await logIn(deps, form, unknown, { address });
  await logIn(deps, form, person, { address, typed: 'wrong' });
  await disable('now()');
  await logIn(deps, form, person, { address });
  await disable('null');
  expect(told()).toEqual([
    { event, client, network, reason: 'incomplete' },
    { event, client, network, reason: 'unknown_user' },
    { event, client, user, network, reason: 'wrong_password' },
    { event, client, user, network, reason: 'user_disabled' },
  ]);
  await logIn(deps, form, person, { address, forgetMe: true });
  expect(told()).toEqual([{ event: 'login.accepted', client, user, network }]);
  for (let i = 0; i < 5; i += 1) await logIn(deps, form, unknown, { address });
  told();
  await logIn(deps, form, unknown, { address });
  expect(told()).toEqual([{ event: 'login.throttled', client, network }]);
});

test('tells when a session begins and what ends it [R33.1]', async () => {
  const session = () => sessionOf(deps, client, person);
  const signedIn = () => [
    expect.objectContaining({ event: 'login.accepted' }),
    { event: 'session.begun', client, user },
  ];
  const [first, second] = [await session(), await session()];
  expect(told()).toEqual([...signedIn(), ...signedIn()]);
  await logIn(deps, await beginForm(deps, client, { prompt: 'login' }, first), person);
  expect(told()).toEqual([
    signedIn()[0],
    { event: 'session.ended', client, user, reason: 'new_login' },
    signedIn()[1],
  ]);
  const form = await beginForm(deps, client, {}, second);
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
  const form = await signIn(deps, await beginForm(deps, client), person);
  told();
  for (let again = 0; again < 2; again += 1) await submitConsent(deps, { ...form, decision: 'allow' });
  expect(told()).toEqual([{ event: 'consent.given', client, user }]);
  await begin(deps, client, {}, form.browserSession);
  expect(told()).toEqual([]);
  const again = await beginForm(deps, client, { prompt: 'consent' }, form.browserSession);
  for (let i = 0; i < 2; i += 1) await submitConsent(deps, { ...again, decision: 'deny' });
  await cancelAuthorization(deps, await beginForm(deps, client));
  // The second was cancelled before anybody had logged in.
  expect(told()).toEqual([
    { event: 'consent.denied', client, user },
    { event: 'consent.denied', client },
  ]);
});

test('tells of a consent that an operator withdrew, once it is withdrawn [R33.1]', async () => {
  await addConsent(identity, person.sub, client, ['openid']);
  const context = openAdminContext(identity, { onSecurityEvent });
  const named = { user: { sub: person.sub }, clientId: client };
  await withdrawConsent(context, dry, named);
  expect(told()).toEqual([]);
  await withdrawConsent(context, anna, named);
  expect(told()).toEqual([{ event: 'consent.withdrawn', client, user }]);
});
