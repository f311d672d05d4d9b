// Every page, of the service and of the demo partner, is inspected: axe in light and dark, and 320 px in both languages.
// SCREENSHOTS=1 also keeps a picture of each.
import type { Page } from 'playwright-core';
import { beforeEach, expect, test } from 'vitest';
import { type DemoUser, partnerFor, userWho } from '../support/stack-file.ts';
import { overflow, picture, useBrowser, violations } from './browser.ts';
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
  type Words,
  withdrawConsents,
  words,
} from './journey.ts';

const browser = useBrowser();
const user = userWho(stack, 'typical season');
const all = partnerFor(stack, 'openid', 'email', 'profile');
beforeEach(withdrawConsents);

async function connectAs(page: Page, person: DemoUser, said: Words = words.en): Promise<void> {
  await connect(page, said);
  await logIn(page, person, said);
  await decide(page, 'allow', said);
  await arrive(page, said);
}

const languages: readonly (readonly [string, string, Words])[] = [
  ['English', 'en-GB', words.en],
  ['German', 'de-DE', words.de],
];

test.each(languages)('the pages of a first connection in %s', async (_, locale, said) => {
  const page = await browser.person({ locale });
  const named = (name: string) => inspect(page, `${locale.slice(0, 2)}-${name}`);
  await page.goto(`${partnerOrigin()}/`);
  await named('partner-welcome');
  await connect(page, said);
  await named('login');
  await logIn(page, { email: '', password: '' }, said);
  await page.getByRole('alert').waitFor();
  await named('login-empty');
  await logIn(page, { ...user, password: 'wrong' }, said);
  await page.getByText(said.login.wrong).first().waitFor();
  await named('login-wrong');
  await logIn(page, user, said);
  await expect.poll(() => heading(page)).toMatch(said.asks);
  await named('consent');
  await decide(page, 'deny', said);
  await named('partner-refused');
  await page.goto(silentRequest(all, { prompt: 'select_account' }));
  await named('account');
  await page.goto(`${stack.issuer}/sign-out`);
  await named('sign-out');
  await page.getByRole('main').getByRole('button').click();
  await named('signed-out');
  await page.goto(`${stack.issuer}/consent?interaction=AAAAAAAAAAAAAAAAAAAAAA`);
  await named('expired');
  await page.goto(`${stack.issuer}/`);
  await named('start');
});

test.each(languages)('the pages of a login whose cookie is gone in %s', async (_, locale, said) => {
  const page = await browser.person({ locale });
  const named = (name: string) => inspect(page, `${locale.slice(0, 2)}-${name}`);
  await page.goto(silentRequest(all));
  const [own] = await page.context().cookies();
  if (!own) throw new Error('no cookie of the interaction');
  await page.context().addCookies([{ ...own, name: own.name.replace(/[^-]+$/, 'other') }]);
  await page.context().clearCookies({ name: own.name });
  await logIn(page, user, said);
  await page.getByText(said.login.again).waitFor();
  await named('login-again');
  await page.context().clearCookies();
  await logIn(page, user, said);
  await expect.poll(() => heading(page)).toBe(said.noCookies.heading);
  await named('no-cookies');
});

test.each(languages)(
  'the consent page of a partner that asks for nothing that opens in %s',
  async (_, locale, said) => {
    const page = await browser.person({ locale });
    await page.goto(silentRequest(partnerFor(stack, 'email', 'profile')));
    await logIn(page, user, said);
    await page.getByRole('button', { name: said.consent.allow, exact: true }).waitFor();
    await inspect(page, `${locale.slice(0, 2)}-consent-nothing`);
  },
);

test.each(languages)('the pages of the connected partner in %s', async (_, locale, said) => {
  const page = await browser.person({ locale });
  const named = (name: string) => inspect(page, `${locale.slice(0, 2)}-partner-${name}`);
  await connectAs(page, user, said);
  await page.goto(`${partnerOrigin()}/`);
  await named('connected');
  await page.getByRole('link', { name: said.partner.showEvents }).click();
  await arrive(page, said);
  await named('events');
  await page.locator('main li').first().getByRole('link').click();
  await page.locator('main li').first().waitFor();
  await named('designs');
  await page.goto(`${partnerOrigin()}/events/bm90LW91cnM/designs`);
  await named('not-found');
  await page.goto(`${partnerOrigin()}/callback?state=unknown&code=unknown`);
  await named('failed');
  await page.goto(`${partnerOrigin()}/`);
  await page.getByRole('button', { name: said.partner.disconnect }).click();
  await page.waitForURL('**/disconnected');
  await named('disconnected');
  await page.goto(`${partnerOrigin()}/events`);
  await named('connect-first');
});

test.each(['no designs', 'null fields', 'Arabic'])(
  'the partner’s pages of the user with %s',
  async (about) => {
    const page = await browser.person();
    const person = userWho(stack, about);
    await connectAs(page, person);
    await expectConnected(page, person);
    await page.goto(`${partnerOrigin()}/events`);
    await inspect(page, `partner-events-${about}`);
    const first = page.locator('main li').first().getByRole('link');
    if ((await first.count()) === 0) return;
    await first.click();
    await page.locator('main li').first().waitFor();
    await inspect(page, `partner-designs-${about}`);
  },
);

test('the page for a store that does not answer, in the middle of a login [R14.4]', async () => {
  const redis = stack.processes?.redis;
  if (redis === undefined) throw new Error('The stack file names no Redis process.');
  for (const locale of ['en-GB', 'de-DE']) {
    const page = await browser.person({ locale });
    await page.goto(silentRequest(all));
    process.kill(redis, 'SIGSTOP');
    try {
      const answer = page.waitForResponse(/\/login$/);
      await logIn(page, user, locale === 'de-DE' ? words.de : words.en);
      expect((await answer).status()).toBe(503);
    } finally {
      process.kill(redis, 'SIGCONT');
    }
    await inspect(page, `${locale.slice(0, 2)}-unavailable`);
  }
});

/** Inspects the page in its present state, and leaves it in light mode and at its size. A German page differs in its words alone. */
async function inspect(page: Page, name: string): Promise<void> {
  await page.waitForLoadState();
  const size = page.viewportSize() ?? { width: 1280, height: 720 };
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await picture(page, `${name}-${colorScheme}`);
    if (!name.startsWith('de-'))
      expect(await violations(page, colorScheme), `${name} in ${colorScheme} mode`).toEqual([]);
  }
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 320, height: 640 });
  await picture(page, `${name}-narrow`);
  expect(await overflow(page), `${name} scrolls sideways at 320 px`).toBeLessThanOrEqual(0);
  await page.setViewportSize(size);
}
