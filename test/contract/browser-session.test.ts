// The browser session: how it begins, is used, and ends (R29).
import { expect, test } from 'vitest';
import { formWith, logIn, logInAndAgree, loginForm } from '../support/flow.ts';
import type { DemoUser } from '../support/stack-file.ts';
import type { UserAgent } from '../support/user-agent.ts';
import {
  begin,
  freshBrowser,
  full,
  grant,
  issuer,
  oidc,
  refresh,
  storeTest,
  tokensFor,
  typical,
} from './deployment.ts';
import { expectDeparture, expectError, expectErrorRedirect, expectPage } from './expectations.ts';
import { redis, sql, throwawayUser } from './throwaway.ts';

async function signedIn(user: DemoUser = typical): Promise<UserAgent> {
  const agent = freshBrowser();
  await grant({ agent, user });
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
  const next = expectPage(await agent.submit(page, form, {}, 'choice=another'));
  expect(loginForm(next)).toBeDefined();
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

/** Sets both columns, as the operator's disable does; enabling clears the first alone. */
async function disable({ sub }: DemoUser): Promise<void> {
  await sql('update identity.users set disabled_at = now(), signed_out_at = now() where sub = $1', sub);
}

storeTest(
  'it ends when the user is disabled, and enabling brings neither it nor its refresh tokens back [R29.5]',
  async () => {
    const user = await throwawayUser();
    const agent = freshBrowser();
    const { refresh_token } = await tokensFor({ agent, user });
    expect(await isSignedIn(agent)).toBe(true);
    await disable(user);
    expect(await isSignedIn(agent)).toBe(false);
    await sql('update identity.users set disabled_at = null where sub = $1', user.sub);
    expect(await isSignedIn(agent)).toBe(false);
    expectError(await refresh(full, refresh_token), 400, 'invalid_grant');
    await logInAndAgree(agent, await begin(agent, full), user);
    expect(await isSignedIn(agent)).toBe(true);
  },
);

/** Keys of the sessions of one user. */
async function sessionKeys(sub: string): Promise<string[]> {
  const keys = await redis().keys('session:*');
  const owners = await Promise.all(keys.map((key) => redis().hget(key, 'sub')));
  return keys.filter((_, index) => owners[index] === sub);
}

storeTest('it ends an hour after its last use, and each use renews the hour [R29.1]', async () => {
  const user = await throwawayUser();
  const agent = await signedIn(user);
  const [key = ''] = await sessionKeys(user.sub);
  await redis().expire(key, 100);
  expect(await isSignedIn(agent)).toBe(true);
  expect(await redis().ttl(key)).toBeLessThanOrEqual(3_600);
  expect(await redis().ttl(key)).toBeGreaterThan(3_500);
  await redis().pexpire(key, 1);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(await isSignedIn(agent)).toBe(false);
});

storeTest('it ends eight hours after the login, used or not [R29.2]', async () => {
  const user = await throwawayUser();
  const agent = await signedIn(user);
  const [key = ''] = await sessionKeys(user.sub);
  const field = (await redis().hexists(key, 'auth_time')) === 1 ? 'auth_time' : 'authTime';
  const stored = Number(await redis().hget(key, field));
  const unit = stored > 1e11 ? 1_000 : 1;
  await redis().hset(key, field, String(stored - (8 * 3_600 - 60) * unit));
  expect(await isSignedIn(agent)).toBe(true);
  expect(await redis().ttl(key)).toBeLessThanOrEqual(60);
  await redis().hset(key, field, String(stored - 8 * 3_600 * unit));
  expectErrorRedirect(await begin(agent, full, { prompt: 'none' }), 'login_required');
});

test('Cancel on the login page leads back with access_denied [S4.authorization.3 S7.channel.1]', async () => {
  const agent = freshBrowser();
  const page = expectPage(await begin(agent, full, { state: 'st' }));
  const form = page.forms.find(({ action }) => action.includes('cancel'));
  if (!form) throw new Error('no Cancel');
  const { location } = expectDeparture(await agent.submit(page, form, {}));
  expect(location).toBe(`${full.redirectUris[0]}?error=access_denied&state=st`);
});

storeTest(
  'a form of an expired interaction gets a page for people, with status 400 [R6.4 R6.12]',
  async () => {
    const [user, agent] = [await throwawayUser(), freshBrowser()];
    const page = expectPage(await begin(agent, full, { state: 'st' }));
    const consent = expectPage(await logIn(agent, page, user));
    const id = loginForm(page)?.fields.find(({ name }) => name === 'interaction')?.value;
    // What its end does, 30 minutes after the request.
    expect(await redis().del(`interaction:{all}:${id}`)).toBe(1);
    const form = formWith(consent, 'decision', 'allow');
    if (!form) throw new Error('no consent form');
    expectPage(await agent.submit(consent, form, {}, 'decision=allow'), 400);
  },
);
