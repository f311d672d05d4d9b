// The browser session: how it begins, is used, and ends.
import { expect, test } from 'vitest';
import { formWith, logInAndAgree, loginForm } from '../support/flow.ts';
import type { UserAgent } from '../support/user-agent.ts';
import { begin, freshBrowser, full, grant, issuer, oidc, typical } from './deployment.ts';
import { expectDeparture, expectPage } from './expectations.ts';

async function signedIn(): Promise<UserAgent> {
  const agent = freshBrowser();
  await grant({ agent });
  return agent;
}

async function isSignedIn(agent: UserAgent): Promise<boolean> {
  const { parameters } = expectDeparture(await begin(agent, full, { prompt: 'none' }));
  if (parameters.get('code') === null) expect(parameters.get('error')).toBe('login_required');
  return parameters.get('code') !== null;
}

function sessionCookie(agent: UserAgent) {
  return [...agent.cookies.values()].find(({ name }) => /session$/.test(name));
}

test('the session cookie has no lifetime and is new at each login [R29.6]', async () => {
  const agent = await signedIn();
  const first = sessionCookie(agent);
  expect(first?.attributes).not.toMatch(/max-age|expires/i);
  await logInAndAgree(agent, await begin(agent, full, { prompt: 'login' }), typical);
  expect(sessionCookie(agent)?.value).not.toBe(first?.value);
  const thief = freshBrowser();
  if (first) thief.cookies.set(first.name, first);
  expect(await isSignedIn(agent)).toBe(true);
  expect(await isSignedIn(thief)).toBe(false);
});

test('“use another account” ends it [R29.3]', async () => {
  const agent = await signedIn();
  const before = new Map(agent.cookies);
  const page = expectPage(await begin(agent, full, { prompt: 'select_account' }));
  const form = formWith(page, 'choice', 'another');
  if (!form) throw new Error('no “use another account”');
  expect(loginForm(expectPage(await agent.submit(page, form, {}, 'choice=another')))).toBeDefined();
  expect(await isSignedIn(agent)).toBe(false);
  const old = freshBrowser();
  for (const [name, cookie] of before) old.cookies.set(name, cookie);
  expect(await isSignedIn(old)).toBe(false);
});

test('the sign-out page is a plain page with a button and ends it [R29.4]', async () => {
  const agent = await signedIn();
  const before = new Map(agent.cookies);
  const page = expectPage(await agent.visit(`${issuer}/sign-out`));
  const [form] = page.forms;
  if (!form) throw new Error('no sign-out form');
  expect(await isSignedIn(agent)).toBe(true);
  await agent.submit(
    page,
    { ...form, fields: form.fields.map((field) => ({ ...field, value: 'forged' })) },
    {},
  );
  expect(await isSignedIn(agent)).toBe(true);
  expectPage(await agent.submit(page, form, {}));
  expect(await isSignedIn(agent)).toBe(false);
  const old = freshBrowser();
  for (const [name, cookie] of before) old.cookies.set(name, cookie);
  expect(await isSignedIn(old)).toBe(false);
  expect(JSON.stringify(oidc)).not.toContain('sign-out');
});

test('“do not keep me signed in”: the flow ends, and no session is left, an earlier one neither [R29.7]', async () => {
  const agent = await signedIn();
  const start = await begin(agent, full, { prompt: 'login consent' });
  const departure = await logInAndAgree(agent, start, typical, { forgetMe: true });
  expect(departure.parameters.get('code')).not.toBeNull();
  expect(await isSignedIn(agent)).toBe(false);
  expect(sessionCookie(agent)).toBeUndefined();
});

test('Cancel on the login page leads back with access_denied [S4.authorization.3 S7.channel.1]', async () => {
  const agent = freshBrowser();
  const page = expectPage(await begin(agent, full, { state: 'st' }));
  const form = page.forms.find(({ action }) => action.includes('cancel'));
  if (!form) throw new Error('no Cancel');
  const { location } = expectDeparture(await agent.submit(page, form, {}));
  expect(location).toBe(`${full.redirectUris[0]}?error=access_denied&state=st`);
});
