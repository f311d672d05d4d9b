// A person connects the demo partner, reads, comes back, and leaves: the whole product in a real browser.
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
const other = userWho(stack, '730 designs');
beforeEach(withdrawConsents);

test('a wrong password is said beside the form, the right one leads to consent', async () => {
  const page = await browser.person();
  await connect(page);
  await expect.poll(() => new URL(page.url()).origin).toBe(stack.issuer);
  await logIn(page, { email: user.email, password: 'not my password' });
  await page.getByText(words.en.wrong).first().waitFor();
  expect(await page.getByLabel('E-mail address').inputValue()).toBe(user.email);
  expect(await page.getByLabel('Password').inputValue()).toBe('');
  await logIn(page, user);
  await expect.poll(() => heading(page)).toMatch(words.en.consent);
});

test('who refuses is back at the partner with nothing connected', async () => {
  const page = await browser.person();
  await reachConsent(page, user);
  await decide(page, 'deny');
  await expect.poll(() => heading(page)).toBe(words.en.refused);
  expect(new URL(page.url()).origin).toBe(partnerOrigin());
});

test('Cancel on the login page leads back to the partner, as a refusal does', async () => {
  const page = await browser.person();
  await connect(page);
  await page.getByRole('button', { name: /^Cancel and go back/ }).click();
  await expect.poll(() => heading(page)).toBe(words.en.refused);
});

test('who agrees reads events and their designs [R25.10]', async () => {
  const page = await browser.person();
  await reachConsent(page, user);
  await decide(page, 'allow');
  await arrive(page);
  const events = page.locator('main li');
  expect(await events.count()).toBeGreaterThan(5);
  await events.first().getByRole('link').click();
  await page.getByRole('link', { name: 'All events' }).waitFor();
  await expect.poll(() => page.locator('main li').count()).toBeGreaterThan(0);
});

test('of 730 designs 500 are shown, and the partner says so', async () => {
  const page = await browser.person();
  await connectAs(page, other);
  await page.goto(`${partnerOrigin()}/events`);
  await page.locator('main li').first().getByRole('link').click();
  await page.getByText('This event has 730 designs. At most 500 are shown.').waitFor();
  await expect.poll(() => page.locator('main li').count()).toBe(500);
});

test('who comes back is asked nothing, and who disconnects can connect again without a word', async () => {
  const page = await browser.person();
  await connectAs(page, user);
  await page.goto(`${partnerOrigin()}/`);
  await page.getByRole('button', { name: 'Disconnect' }).click();
  await expect.poll(() => heading(page)).toBe('You are disconnected');
  await page.goto(`${partnerOrigin()}/events`);
  expect(await heading(page)).toBe(words.en.connectFirst);
  await connect(page);
  await arrive(page);
  await expectConnected(page, user);
});

test('Refresh renews the tokens, and events are still read', async () => {
  const page = await browser.person();
  await connectAs(page, user);
  await page.goto(`${partnerOrigin()}/`);
  await page.getByRole('button', { name: 'Refresh now' }).click();
  await page.getByText('Refreshed at').waitFor();
  await page.getByRole('link', { name: words.en.events }).click();
  await expect.poll(() => page.locator('main li').count()).toBeGreaterThan(5);
});

test('another account can be used from the consent page', async () => {
  const page = await browser.person();
  await reachConsent(page, user);
  await page.getByRole('button', { name: 'Use another account' }).click();
  await logIn(page, other);
  await decide(page, 'allow');
  await arrive(page);
  await expectConnected(page, other);
});

test('prompt=select_account shows who is signed in and lets them go on [R5.4]', async () => {
  const page = await browser.person();
  await connectAs(page, user);
  const partner = partnerFor(stack, 'openid');
  await page.goto(silentRequest(partner, { prompt: 'select_account', state: 'mine' }));
  expect(await heading(page)).toBe('Continue with this account?');
  await page.getByText(user.email).waitFor();
  await page.getByRole('button', { name: /^Continue as/ }).click();
  await decide(page, 'allow');
  await page.getByText('back at the partner').waitFor();
  expect(new URL(page.url()).searchParams.get('state')).toBe('mine');
});

test('who signed out is asked for the password again', async () => {
  const page = await browser.person();
  await connectAs(page, user);
  await page.goto(`${stack.issuer}/sign-out`);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await expect.poll(() => heading(page)).toBe('You are signed out');
  await connect(page);
  await expect.poll(() => heading(page)).toBe('Log in');
});

test('on a shared computer nobody stays signed in', async () => {
  const page = await browser.person();
  await connect(page);
  await page.getByLabel('This is a shared computer').check();
  await logIn(page, user);
  await decide(page, 'allow');
  await arrive(page);
  await page.goto(`${stack.issuer}/sign-out`);
  expect(await heading(page)).toBe('You are signed out');
});
