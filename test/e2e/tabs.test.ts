// What people do to flows: two tabs, two partners, back, reload, double clicks, old links.
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
  silentCallback,
  silentRequest,
  stack,
  withdrawConsents,
  words,
} from './journey.ts';

const browser = useBrowser();
const user = userWho(stack, 'typical season');
beforeEach(withdrawConsents);

test('two tabs of one partner both come to their end', async () => {
  const first = await browser.person();
  const second = await first.context().newPage();
  await connect(first);
  await connect(second);
  await logIn(second, user);
  await expect.poll(() => heading(second)).toMatch(words.en.consent);
  await logIn(first, user);
  await decide(first, 'allow');
  await arrive(first);
  await second.reload();
  if (new URL(second.url()).origin === stack.issuer) await decide(second, 'allow');
  await arrive(second);
  await expectConnected(second, user);
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

test('reload on each page shows the same page', async () => {
  const page = await browser.person();
  await connect(page);
  await expect.poll(() => heading(page)).toBe('Log in');
  await page.reload();
  expect(await heading(page)).toBe('Log in');
  await logIn(page, user);
  await expect.poll(() => heading(page)).toMatch(words.en.consent);
  await page.reload();
  expect(await heading(page)).toMatch(words.en.consent);
  await decide(page, 'allow');
  await arrive(page);
});

test('back from consent to login and on again comes to an end', async () => {
  const page = await browser.person();
  await reachConsent(page, user);
  await page.goBack();
  await page.reload();
  expect(await heading(page)).toMatch(words.en.consent);
  await decide(page, 'allow');
  await arrive(page);
  await expectConnected(page, user);
});

test('back after the end never makes a second connection out of the old page', async () => {
  const page = await browser.person();
  const address = silentRequest(partnerFor(stack, 'openid'), { state: 'once' });
  await page.goto(address);
  await logIn(page, user);
  await expect.poll(() => heading(page)).toMatch(words.en.consent);
  const consentPage = page.url();
  await decide(page, 'allow');
  await page.getByText('back at the partner').waitFor();
  const landed = page.url();
  await page.goto(consentPage);
  const same = page.url().startsWith(silentCallback)
    ? page.url() === landed
    : (await heading(page)) === 'This page is no longer valid';
  expect(same).toBe(true);
});

test('a double click on Allow ends as one click does [R6.7]', async () => {
  const page = await browser.person();
  await connect(page);
  await logIn(page, user);
  await page.getByRole('button', { name: 'Allow', exact: true }).dblclick();
  await arrive(page);
  await expectConnected(page, user);
});

test('a link that nobody knows says so, with a reference and no protocol words [R6.4]', async () => {
  const page = await browser.person();
  const answer = await page.goto(`${stack.issuer}/login?interaction=AAAAAAAAAAAAAAAAAAAAAA`);
  expect(answer?.status()).toBe(400);
  expect(await heading(page)).toBe('This page is no longer valid');
  const text = await page.locator('body').textContent();
  expect(text).toContain(answer?.headers()['x-request-id'] ?? 'a reference');
  expect(text).not.toMatch(/invalid_|oauth|interaction|token|redirect/i);
});

test('a link opened in another browser shows nothing of the flow', async () => {
  const page = await browser.person();
  await reachConsent(page, user);
  const stranger = await browser.person();
  await stranger.goto(page.url());
  expect(await heading(stranger)).toBe('This page is no longer valid');
  await page.reload();
  expect(await heading(page)).toMatch(words.en.consent);
});

test('while Redis is gone a person reads so, and goes on when it is back', async () => {
  const redis = stack.processes?.redis;
  if (redis === undefined) throw new Error('The stack file names no Redis process.');
  const page = await browser.person();
  await connectAs(page, user);
  await page.goto(`${partnerOrigin()}/`);
  process.kill(redis, 'SIGSTOP');
  try {
    const answer = await page.goto(silentRequest(partnerFor(stack, 'openid')));
    expect(answer?.status()).toBe(503);
    expect(await heading(page)).toBe('We cannot continue right now');
  } finally {
    process.kill(redis, 'SIGCONT');
  }
  const again = () => page.goto(silentRequest(partnerFor(stack, 'openid')));
  await expect.poll(async () => (await again())?.status(), { interval: 500 }).toBe(200);
  await decide(page, 'allow');
  await page.getByText('back at the partner').waitFor();
});
