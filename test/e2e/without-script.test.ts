// The whole flow with JavaScript off, in German, by keyboard alone, and with a password manager's eyes.
import { beforeEach, expect, test } from 'vitest';
import { partnerFor, userWho } from '../support/stack-file.ts';
import { useBrowser } from './browser.ts';
import {
  arrive,
  connect,
  connectAs,
  decide,
  expectConnected,
  heading,
  logIn,
  partnerOrigin,
  reachConsent,
  silentRequest,
  stack,
  withdrawConsents,
  words,
} from './journey.ts';

const browser = useBrowser();
const user = userWho(stack, 'typical season');
beforeEach(withdrawConsents);

test('everything works with JavaScript off', async () => {
  const page = await browser.person({ javaScriptEnabled: false });
  await connect(page);
  await logIn(page, { ...user, password: 'wrong' });
  await page.getByText(words.en.wrong).first().waitFor();
  await logIn(page, user);
  await decide(page, 'allow');
  await arrive(page);
  expect(await page.locator('main li').count()).toBeGreaterThan(5);
  await page.goto(`${partnerOrigin()}/`);
  await page.getByRole('button', { name: 'Refresh now' }).click();
  await page.getByText('Refreshed at').waitFor();
  await page.getByRole('button', { name: 'Disconnect' }).click();
  await expect.poll(() => heading(page)).toBe('You are disconnected');
  await page.goto(`${stack.issuer}/sign-out`);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await expect.poll(() => heading(page)).toBe('You are signed out');
});

test('on a phone the consent page folds what is never shared, and opens it without script', async () => {
  const page = await browser.person({ javaScriptEnabled: false, viewport: { width: 320, height: 640 } });
  await reachConsent(page, user);
  const shown = page.locator('.never').filter({ visible: true });
  await expect.poll(() => shown.count()).toBe(0);
  await page.locator('summary').click();
  await expect.poll(() => shown.count()).toBe(1);
  await page.setViewportSize({ width: 1280, height: 720 });
  await expect
    .poll(async () => [await shown.count(), await page.locator('summary').isVisible()])
    .toEqual([1, false]);
});

test('a German browser is spoken to in German from the first page to the last', async () => {
  const page = await browser.person({ locale: 'de-DE' });
  await connect(page, words.de);
  await expect.poll(() => page.locator('html').getAttribute('lang')).toBe('de');
  await logIn(page, { ...user, password: 'falsch' }, words.de);
  await page.getByText(words.de.wrong).first().waitFor();
  await logIn(page, user, words.de);
  await expect.poll(() => heading(page)).toMatch(words.de.consent);
  await decide(page, 'deny', words.de);
  await expect.poll(() => heading(page)).toBe(words.de.refused);
  await connect(page, words.de);
  await decide(page, 'allow', words.de);
  await arrive(page, words.de);
});

test('ui_locales goes before the language of the browser [R5.14]', async () => {
  const page = await browser.person({ locale: 'en-GB' });
  const partner = partnerFor(stack, 'openid');
  await page.goto(silentRequest(partner, { ui_locales: 'fr-CA de' }));
  expect(await heading(page)).toBe('Anmelden');
});

test('a person with a keyboard alone logs in, refuses nothing and agrees', async () => {
  const page = await browser.person();
  await page.goto(`${partnerOrigin()}/`);
  await tabTo('Connect');
  await page.keyboard.press('Enter');
  await page.waitForURL(`${stack.issuer}/**`);
  await tabTo('E-mail address');
  await page.keyboard.type(user.email);
  await page.keyboard.press('Tab');
  await page.keyboard.type(user.password);
  await page.keyboard.press('Enter');
  await expect.poll(() => heading(page)).toMatch(words.en.consent);
  await tabTo('Allow');
  await page.keyboard.press('Enter');
  await arrive(page);
  await expectConnected(page, user);

  /** Presses Tab until the focus, which must be visible, rests on what has this name. */
  async function tabTo(name: string): Promise<void> {
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
});

test('a wrong password puts the focus on what went wrong', async () => {
  const page = await browser.person();
  await connect(page);
  await logIn(page, { ...user, password: 'wrong' });
  await page.getByRole('alert').waitFor();
  await expect.poll(() => page.evaluate('document.activeElement.getAttribute("role")')).toBe('alert');
});

test('a password manager knows both fields, and a paste is not blocked', async () => {
  const page = await browser.person({ permissions: ['clipboard-read', 'clipboard-write'] });
  await connect(page);
  const email = page.getByLabel('E-mail address');
  const password = page.getByLabel('Password');
  expect(await email.getAttribute('autocomplete')).toBe('username');
  expect(await email.getAttribute('type')).toBe('email');
  expect(await password.getAttribute('autocomplete')).toBe('current-password');
  await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(user.password)})`);
  await password.focus();
  await page.keyboard.press('ControlOrMeta+V');
  await expect.poll(() => password.inputValue()).toBe(user.password);
});

test('a name in any script is shown as it is written', async () => {
  const page = await browser.person();
  const user = userWho(stack, 'Arabic');
  await connectAs(page, user);
  await expectConnected(page, user);
});
