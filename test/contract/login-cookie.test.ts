// The login form and the cookie that binds it to its browser: many tabs, cookies that are gone, browsers that keep none.
import { expect, test } from 'vitest';
import { logIn, loginForm, walkOn } from '../support/flow.ts';
import { send } from '../support/http.ts';
import type { Departure, Page, UserAgent } from '../support/user-agent.ts';
import { begin, freshBrowser, full, grant, issuer, typical } from './deployment.ts';
import { expectDeparture, expectErrorRedirect, expectPage, protocolWords } from './expectations.ts';

/** Opens login pages one after the other in one browser. */
async function openTabs(agent: UserAgent, count: number): Promise<Page[]> {
  const tabs: Page[] = [];
  for (let nth = 0; nth < count; nth++)
    tabs.push(expectPage(await begin(agent, full, { state: `tab ${nth}`, prompt: 'login' })));
  return tabs;
}

/** Over https each cookie also has the name that version 0.1.0 knows. */
const namesOfCookie = issuer.startsWith('https:') ? 2 : 1;

/** The only cookie is that of the page's interaction; `own` are its names. */
async function loginPage(): Promise<{ agent: UserAgent; page: Page; own: readonly string[] }> {
  const agent = freshBrowser();
  const [page] = await openTabs(agent, 1);
  const own = [...agent.cookies.keys()];
  expect(own).toHaveLength(namesOfCookie);
  if (!page) throw new Error('no page');
  return { agent, page, own };
}

async function expectCode(agent: UserAgent, at: Page | Departure, state: string): Promise<void> {
  const { parameters } = expectDeparture(await walkOn(agent, at, typical));
  expect(parameters.get('code')).not.toBeNull();
  expect(parameters.get('state')).toBe(state);
}

test('sixteen login pages in one browser are open; an older one is shown again, and leads to its code [R6.6 R6.13]', async () => {
  const agent = freshBrowser();
  const tabs = await openTabs(agent, 17);
  expect(agent.cookies.size).toBe(16 * namesOfCookie);
  for (const nth of [1, 2, 16, 0]) {
    const tab = tabs[nth] as Page;
    const next = await logIn(agent, tab, typical);
    expect(next.kind === 'page' && loginForm(next) !== undefined, `tab ${nth}`).toBe(nth === 0);
    await expectCode(agent, next, `tab ${nth}`);
  }
});

test('of twenty login pages the four oldest are shown again, and the others are open all the same [R6.13]', async () => {
  const agent = freshBrowser();
  for (const [nth, tab] of (await openTabs(agent, 20)).entries()) {
    const next = await logIn(agent, tab, typical);
    expect(next.kind === 'page' && loginForm(next) !== undefined, `tab ${nth}`).toBe(nth < 4);
    await expectCode(agent, next, `tab ${nth}`);
  }
});

const others = ['session', 'device', 'interaction-AAAAAAAAAAAAAAAAAAAAAA'];
const prefix = issuer.startsWith('https:') ? '__Host-' : '';
const names = others.flatMap((name) => [`${prefix}course-exchange-${name}`, `${prefix}${name}`]);

test.each(names)(
  'a login form whose cookie is gone beside %s is shown again, its credentials unseen [R6.13]',
  async (name) => {
    const { agent, page, own } = await loginPage();
    for (const name of own) agent.cookies.delete(name);
    agent.cookies.set(name, { name, value: 'of-another-login', attributes: '' });
    const again = expectPage(await logIn(agent, page, typical));
    expect(loginForm(again)?.fields).toContainEqual(
      expect.objectContaining({ name: 'email', value: typical.email }),
    );
    expect(again.answer.headers['set-cookie']?.join()).not.toMatch(/session=[^;]/);
    await expectCode(agent, again, 'tab 0');
  },
);

test('a browser that sends no cookie with the login form is told so, without protocol words [R6.14]', async () => {
  const { agent, page } = await loginPage();
  for (const cookies of [[], ['of-another-program'], ['session_id']]) {
    agent.cookies.clear();
    for (const name of cookies) agent.cookies.set(name, { name, value: 'x', attributes: '' });
    const told = expectPage(await logIn(agent, page, typical), 400);
    expect(told.text).toMatch(/cookies/i);
    expect(told.text).not.toMatch(protocolWords);
    expect(told.answer.headers['set-cookie']).toBeUndefined();
  }
});

test('a login form with another cookie or token than its own stays foreign [R6.3 R6.6 R25.9]', async () => {
  const { agent, page, own } = await loginPage();
  const form = loginForm(page);
  if (!form) throw new Error('no login form');
  const credentials = { email: typical.email, password: typical.password };
  const forged = await agent.submit(page, form, { ...credentials, form_token: 'x'.repeat(43) });
  expectErrorRedirect(forged, 'invalid_request');
  const stranger = freshBrowser();
  for (const name of own) stranger.cookies.set(name, { name, value: 'x'.repeat(43), attributes: '' });
  expectErrorRedirect(await logIn(stranger, page, typical), 'invalid_request');
  await expectCode(agent, page, 'tab 0');
});

test('another site’s login form starts nothing, whatever cookies come with it [R6.6 R25.9]', async () => {
  const { agent, page, own } = await loginPage();
  await grant({ agent });
  for (const name of own) agent.cookies.delete(name);
  const fields = loginForm(page)?.fields.map(({ name, value }) => [name, value] as const) ?? [];
  const cookie = [...agent.cookies.values()].map(({ name, value }) => `${name}=${value}`).join('; ');
  for (const site of ['cross-site', 'same-site']) {
    const answer = await send(`${issuer}/login`, {
      form: { ...Object.fromEntries(fields), email: typical.email, password: typical.password },
      headers: { cookie, 'sec-fetch-site': site },
    });
    expect([answer.status, answer.headers['set-cookie']]).toEqual([303, undefined]);
    expect(answer.headers.location).toContain('error=invalid_request');
  }
});

test('Cancel goes back to the partner when the cookie is gone, too [R6.3]', async () => {
  const { agent, page } = await loginPage();
  agent.cookies.clear();
  const form = page.forms.find(({ action }) => action.includes('cancel'));
  if (!form) throw new Error('no Cancel');
  expectErrorRedirect(await agent.submit(page, form, {}), 'invalid_request');
});

test('no answer has more than 16 Set-Cookie lines, however many cookies are sent', async () => {
  const { agent, page } = await loginPage();
  agent.cookies.clear();
  for (let nth = 0; nth < 180; nth++) {
    const name = `${prefix}course-exchange-interaction-${nth}`;
    agent.cookies.set(name, { name, value: 'b'.repeat(43), attributes: '' });
  }
  for (const ask of [() => agent.visit(page.url), () => logIn(agent, page, typical)]) {
    const { answer } = expectPage(await ask());
    expect(answer.headers['set-cookie']?.length).toBeGreaterThan(10);
    expect(answer.headers['set-cookie']?.length).toBeLessThanOrEqual(16);
  }
  for (let nth = 0; nth < 15; nth++) await agent.visit(page.url);
  expect(agent.cookies.size).toBeLessThanOrEqual(16 * namesOfCookie);
});
