// People in a real browser, from the demo partner's first page to the last: they connect, read, come back and leave; they open
// tabs, go back, reload and click twice; they have no script, a keyboard alone, or a password manager.
import { withClient } from '@course-exchange/local-stack/postgres';
import { emailKey } from '@course-exchange/rules/email';
import type { Page } from 'playwright-core';
import { beforeEach, expect, test } from 'vitest';
import { type DemoUser, partnerFor, userWho } from '../support/stack-file.ts';
import { silentCallback, useBrowser } from './browser.ts';
import {
  arrive,
  connect,
  decide,
  expectConnected,
  heading,
  logIn,
  partnerOrigin,
  silentRequest,
  stack,
  withdrawConsents,
  words,
} from './journey.ts';

const browser = useBrowser();
const user = userWho(stack, 'typical season');
const other = userWho(stack, '730 designs');
beforeEach(withdrawConsents);

async function reachConsent(page: Page, user: DemoUser): Promise<void> {
  await connect(page);
  await logIn(page, user);
  await expect.poll(() => heading(page)).toMatch(words.en.asks);
}

test('Cancel, a wrong password and a refusal each lead on, with nothing connected', async () => {
  const page = await browser.person();
  await connect(page);
  for (const name of ['Forgot your password?', 'Privacy notice', 'Support'])
    await page.getByRole('link', { name }).waitFor();
  await page.getByRole('button', { name: /^Cancel and go back/ }).click();
  await expect.poll(() => heading(page)).toBe(words.en.partner.refusedTitle);
  await connect(page);
  await logIn(page, { email: user.email, password: 'not my password' });
  await page.getByRole('alert').getByText(words.en.login.wrong).first().waitFor();
  await expect.poll(() => page.evaluate('document.activeElement.getAttribute("role")')).toBe('alert');
  expect(await page.getByLabel('E-mail address').inputValue()).toBe(user.email);
  expect(await page.getByLabel('Password').inputValue()).toBe('');
  await logIn(page, user);
  await expect.poll(() => heading(page)).toMatch(words.en.asks);
  await decide(page, 'deny');
  await expect.poll(() => heading(page)).toBe(words.en.partner.refusedTitle);
  expect(new URL(page.url()).origin).toBe(partnerOrigin());
});

test('a person connects, reads, refreshes, disconnects and connects again, without script [R25.10]', async () => {
  const page = await browser.person({ javaScriptEnabled: false });
  await reachConsent(page, other);
  await decide(page, 'allow');
  await arrive(page);
  await page.locator('main li').first().getByRole('link').click();
  await page.getByRole('link', { name: 'All events' }).waitFor();
  await page.getByText('This event has 730 designs. At most 500 are shown.').waitFor();
  await expect.poll(() => page.locator('main li').count()).toBe(500);
  await page.goto(`${partnerOrigin()}/`);
  await page.getByRole('button', { name: 'Refresh now' }).click();
  await page.getByText('Refreshed at').waitFor();
  await page.getByRole('link', { name: words.en.partner.showEvents }).click();
  await arrive(page);
  await page.goto(`${partnerOrigin()}/`);
  await page.getByRole('button', { name: 'Disconnect' }).click();
  await expect.poll(() => heading(page)).toBe('You are disconnected');
  await page.goto(`${partnerOrigin()}/events`);
  expect(await heading(page)).toBe(words.en.partner.firstTitle);
  await connect(page);
  await arrive(page);
  await expectConnected(page, other);
  await page.goto(`${stack.issuer}/sign-out`);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await expect.poll(() => heading(page)).toBe('You are signed out');
  await connect(page);
  await expect.poll(() => heading(page)).toBe('Log in');
});

test('two tabs of one partner both come to their end', async () => {
  const first = await browser.person();
  const second = await first.context().newPage();
  await connect(first);
  await connect(second);
  await logIn(second, user);
  await expect.poll(() => heading(second)).toMatch(words.en.asks);
  await logIn(first, user);
  await decide(first, 'allow');
  await arrive(first);
  await second.reload();
  if (new URL(second.url()).origin === stack.issuer) await decide(second, 'allow');
  await arrive(second);
  await expectConnected(second, user);
});

test('of twelve tabs that wake up together, a login in any leads to its own code', async () => {
  const first = await browser.person();
  const others = Array.from({ length: 11 }, () => first.context().newPage());
  const tabs = [first, ...(await Promise.all(others))];
  const partner = partnerFor(stack, 'openid');
  await Promise.all(tabs.map((tab, nth) => tab.goto(silentRequest(partner, { state: `tab-${nth}` }))));
  for (const nth of [0, 3, 4, 11]) {
    const tab = tabs[nth] as Page;
    await logIn(tab, user);
    if (nth === 0) await decide(tab, 'allow');
    await tab.getByText('back at the partner').waitFor();
    const { searchParams } = new URL(tab.url());
    expect([searchParams.get('state'), searchParams.has('code')]).toEqual([`tab-${nth}`, true]);
  }
});

test('two partners at once do not disturb each other', async () => {
  const one = await browser.person();
  const two = await one.context().newPage();
  await connect(one);
  await two.goto(silentRequest(partnerFor(stack, 'openid'), { state: 'two' }));
  await logIn(one, user);
  await logIn(two, user);
  await decide(two, 'allow');
  await two.getByText('back at the partner').waitFor();
  expect(new URL(two.url()).searchParams.get('state')).toBe('two');
  await decide(one, 'allow');
  await arrive(one);
});

test('reload shows the same page, and back from consent to login and on again comes to an end', async () => {
  const page = await browser.person();
  await connect(page);
  await expect.poll(() => heading(page)).toBe('Log in');
  await page.reload();
  expect(await heading(page)).toBe('Log in');
  await logIn(page, user);
  await expect.poll(() => heading(page)).toMatch(words.en.asks);
  await page.reload();
  expect(await heading(page)).toMatch(words.en.asks);
  await page.goBack();
  await page.reload();
  expect(await heading(page)).toMatch(words.en.asks);
  await decide(page, 'allow');
  await arrive(page);
  await expectConnected(page, user);
});

test('back after the end never makes a second connection out of the old page', async () => {
  const page = await browser.person();
  await page.goto(silentRequest(partnerFor(stack, 'openid'), { state: 'once' }));
  await logIn(page, user);
  await expect.poll(() => heading(page)).toMatch(words.en.asks);
  const consentPage = page.url();
  await page.getByRole('button', { name: 'Allow', exact: true }).dblclick();
  await page.getByText('back at the partner').waitFor();
  const landed = page.url();
  await page.goto(consentPage);
  const same = page.url().startsWith(silentCallback)
    ? page.url() === landed
    : (await heading(page)) === 'This page is no longer valid';
  expect(same).toBe(true);
});

test('a link opened in another browser shows nothing of the flow, and no protocol words', async () => {
  const page = await browser.person();
  await reachConsent(page, user);
  const stranger = await browser.person();
  const answer = await stranger.goto(page.url());
  expect(await heading(stranger)).toBe('This page is no longer valid');
  const text = await stranger.locator('body').textContent();
  expect(text).toContain(answer?.headers()['x-request-id'] ?? 'a reference');
  expect(text).not.toMatch(/invalid_|oauth|interaction|token|redirect/i);
  await page.reload();
  expect(await heading(page)).toMatch(words.en.asks);
});

test('the consent page keeps its buttons in view, and unfolds what is never shared without script', async () => {
  const page = await browser.person({ javaScriptEnabled: false, viewport: { width: 320, height: 640 } });
  await reachConsent(page, user);
  for (const width of [320, 1280]) {
    await page.setViewportSize({ width, height: 640 });
    for (const name of [words.en.consent.allow, words.en.consent.deny]) {
      const box = await page.getByRole('button', { name, exact: true }).boundingBox();
      expect((box?.y ?? 640) + (box?.height ?? 0), `${name} at ${width} px`).toBeLessThanOrEqual(640);
    }
  }
  const folded = page.getByText(/^Your competitions/);
  expect(await folded.isVisible()).toBe(false);
  await page.locator('summary').click();
  await expect.poll(() => folded.isVisible()).toBe(true);
});

/** Presses Tab until the focus, which must be visible, rests on what has this name. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 25; presses++) {
    await page.keyboard.press('Tab');
    const focused: [string, string] = await page.evaluate(`(() => {
      const at = document.activeElement;
      const style = getComputedStyle(at);
      return [(at.labels?.[0] ?? at).textContent.trim(), style.outlineStyle + style.boxShadow];
    })()`);
    if (!focused[0].startsWith(name)) continue;
    expect(focused[1], `the focus on ${name} is not visible`).not.toBe('nonenone');
    return;
  }
  throw new Error(`Tab never reaches ${name}.`);
}

test('an address of an internationalized domain logs in as it is typed [R30.13]', async () => {
  const typed = ['bücher.example', 'straße.example', 'BÜCHER.example', 'xn--bcher-kva.example'];
  const stored = ['bücher.example', 'straße.example', 'xn--bcher-kva.example', 'bücher.example'];
  for (const [nth, domain] of stored.entries()) {
    const email = `person${nth}-${process.pid}@${domain}`;
    await withClient(`${stack.postgres}`, (client) =>
      client.query(
        `insert into identity.users (sub, email, email_key, password_hash)
         select $1, $1, $2, password_hash from identity.users where sub = $3`,
        [email, emailKey(email), user.sub],
      ),
    );
    const page = await browser.person();
    await reachConsent(page, { ...user, email: email.replace(domain, typed[nth] ?? '') });
  }
});

test('a person logs in and agrees with a keyboard alone, or a password manager', async () => {
  const page = await browser.person({ permissions: ['clipboard-read', 'clipboard-write'] });
  await page.goto(`${partnerOrigin()}/`);
  await tabTo(page, 'Connect');
  await page.keyboard.press('Enter');
  await page.waitForURL(`${stack.issuer}/**`);
  const [email, password] = [page.getByLabel('E-mail address'), page.getByLabel('Password')];
  expect(await email.getAttribute('autocomplete')).toBe('username');
  expect(await email.getAttribute('inputmode')).toBe('email');
  expect(await password.getAttribute('autocomplete')).toBe('current-password');
  await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(user.password)})`);
  await tabTo(page, 'E-mail address');
  await page.keyboard.type(user.email);
  await page.keyboard.press('Tab');
  await page.keyboard.press('ControlOrMeta+V');
  await expect.poll(() => password.inputValue()).toBe(user.password);
  await page.keyboard.press('Enter');
  await expect.poll(() => heading(page)).toMatch(words.en.asks);
  await tabTo(page, 'Allow');
  await page.keyboard.press('Enter');
  await arrive(page);
  await expectConnected(page, user);
});
