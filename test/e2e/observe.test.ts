// The page of `start --observe`: requests as they arrive, each across processes and stores, and the metrics.
import { get } from 'node:http';
import { withClient } from '@course-exchange/local-stack/postgres';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { authorizeUrl, logIn, openCaller, token, tokensOf } from '../support/flow.ts';
import { send } from '../support/http.ts';
import { type PrivateStack, startStack } from '../support/stack.ts';
import { partnerFor } from '../support/stack-file.ts';
import { openUserAgent } from '../support/user-agent.ts';
import { overflow, picture, useBrowser, violations } from './browser.ts';

const browser = useBrowser();
let stack: PrivateStack;
let observe: string;
beforeAll(async () => {
  stack = await startStack(['--observe']);
  observe = stack.description.addresses?.observe ?? '';
});
afterAll(() => stack?.stop());

async function openPage(hash = '', colorScheme: 'light' | 'dark' = 'light'): Promise<Page> {
  const page = await browser.person({
    colorScheme,
    reducedMotion: 'reduce',
    viewport: { width: 1360, height: 860 },
  });
  await page.goto(`${observe}/${hash}`);
  await page.getByText('live', { exact: true }).waitFor();
  return page;
}

/** Presses until the request is open: news may move it while it is being pressed. */
function press(link: Locator): Promise<void> {
  const pressed = async () => {
    if ((await link.getAttribute('aria-current')) !== 'true') await link.click();
    return link.getAttribute('aria-current');
  };
  return expect.poll(pressed).toBe('true');
}

const spanOf = (page: Page, name: string) => page.locator('.spans summary', { hasText: name }).first();

/** Opens the newest request that matches, once its trace has come as a whole. */
async function open(page: Page, filter: string, spans: readonly string[]): Promise<void> {
  await page.getByRole('searchbox', { name: 'Filter' }).fill(filter);
  await press(page.locator('#rows a').first());
  for (const span of spans) await spanOf(page, span).waitFor();
  await page.getByRole('searchbox', { name: 'Filter' }).fill('');
}

async function inspect(page: Page, name: string): Promise<void> {
  await picture(page, `observe-${name}`);
  expect(await violations(page)).toEqual([]);
}

test('a login, a refresh, a list and a refused token are shown with their way through the processes', async () => {
  const page = await openPage();
  const caller = await openCaller(stack.description, '2,000 events');
  const first = await caller.newTokens();
  const refreshed = await caller.refresh(first.refresh_token);
  const list = await caller.events(tokensOf(refreshed).access_token);
  const refused = await caller.refresh(first.refresh_token);

  await open(page, 'POST /login', ['gateway', 'identity', 'postgres', 'redis']);
  await inspect(page, 'login');
  await open(page, `/token 200 ${refreshed.headers['x-request-id']}`, [
    'gateway',
    'identity',
    'redis rotate',
  ]);
  const lines = page.locator('.lines').last();
  await lines.getByText('tokens issued').waitFor();
  await spanOf(page, 'redis rotate').click();
  await page.locator('.more dt').getByText('db.system.name').filter({ visible: true }).waitFor();
  await inspect(page, 'refresh');
  await open(page, `/api/events 200 ${list.headers['x-request-id']}`, [
    'gateway',
    'design-catalog',
    'postgres',
  ]);
  await inspect(page, 'list');
  await open(page, `invalid_grant ${refused.headers['x-request-id']}`, ['gateway', 'identity', 'redis']);
  await spanOf(page, 'identity').click();
  await page.locator('.more .lines').getByText('security event').filter({ visible: true }).waitFor();
  await inspect(page, 'refused');

  const tile = (id: string) => page.locator(`[data-tile="${id}"]`);
  await tile('requests').getByText('POST /token 200').waitFor();
  await tile('refusals').getByText('invalid_grant').waitFor();
  for (const store of ['identity redis', 'design-catalog postgresql'])
    await tile('stores').getByText(store).waitFor();
  await page.keyboard.press('Escape');
  await expect.poll(() => page.locator('#request').isVisible()).toBe(false);
});

test('a guess, a wrong secret, a lock and the keys are found by the page alone', async () => {
  const caller = await openCaller(stack.description);
  const agent = openUserAgent(stack.description.issuer);
  const guess = async () => {
    const start = await agent.visit(authorizeUrl(caller.discovery.authorization_endpoint, caller.partner));
    if (start.kind !== 'page') throw new Error('No login page came.');
    const { answer } = await logIn(agent, start, { email: caller.user.email, password: 'a guess' });
    return answer.status;
  };
  // The reason of one whose time was over is that, not its password.
  await expect.poll(guess).toBeLessThan(500);
  const wrong = { ...partnerFor(stack.description, 'openid'), clientSecret: 'wrong' };
  const refused = await token(caller.discovery.token_endpoint, wrong, { grant_type: 'refresh_token' });
  const { access_token } = await caller.newTokens();
  await withClient(stack.description.postgres ?? '', async (client) => {
    await client.query('begin');
    await client.query('lock table catalog.event_summaries in access exclusive mode');
    // Each waits for about 2 s; the locks are read every 500 ms.
    for (const _ of [1, 2]) await caller.events(access_token);
  });

  const page = await openPage(`#${refused.headers['x-request-id']}`);
  await page.getByRole('heading', { name: 'POST /token' }).waitFor();
  await page.locator('.facts', { hasText: 'claimed client' }).getByText(wrong.clientId).click();
  const rows = page.locator('#rows li');
  await rows.getByText('invalid_client: wrong_secret').waitFor();
  await rows.getByText(`${wrong.clientId} (claimed)`).waitFor();
  expect(await rows.count()).toBe(1);
  await page
    .locator('#locks', { hasText: 'lock table catalog.event_summaries' })
    .getByText('catalog_ro')
    .waitFor();
  await page.locator('[data-tile="keys"]').getByText('design-catalog verifies with').waitFor();
  await page.locator('[data-tile="security"]').getByText('client_authentication.failed').waitFor();
  // Its lines move with the news, while one is being pressed too.
  const refusal = page.locator('[data-tile="refusals"]').getByText('login.refused: wrong_password');
  const list = () => refusal.click().then(() => page.getByRole('searchbox', { name: 'Filter' }).inputValue());
  await expect.poll(list).toBe('login.refused wrong_password');
  await rows.getByText('login.refused').first().waitFor();
  await rows.locator('a').first().click();
  await page.getByTitle('List requests with this value').last().click();
  await expect.poll(() => rows.count()).toBeGreaterThan(1);
  await inspect(page, 'incident');
  await page.getByRole('searchbox', { name: 'Filter' }).fill('of no request');
  await page.getByText('No request matches the filter.').waitFor();
  await page.setViewportSize({ width: 360, height: 740 });
  await page.locator('[data-tile="refusals"]').getByText('login.refused').click();
  const { y: count = 0 } = (await page.locator('#count').boundingBox()) ?? {};
  const { height: header = 0 } = (await page.locator('header').boundingBox()) ?? {};
  expect(count).toBeGreaterThanOrEqual(header);
  await inspect(page, 'phone');
  expect(await overflow(page)).toBeLessThanOrEqual(0);
});

test('the page by keys alone, in dark mode and at 320 px', async () => {
  const page = await openPage('', 'dark');
  await send(`${stack.description.issuer}/api/events`, { headers: { 'x-request-id': 'keys-alone-1' } });
  await page.keyboard.press('/');
  await page.keyboard.type('keys-alone-1 invalid_token');
  await expect.poll(() => page.locator('#rows a').count()).toBe(1);
  await page.locator('#rows a').focus();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'GET /api/events' }).waitFor();
  await spanOf(page, 'GET /api/events').focus();
  await page.keyboard.press('Enter');
  await page.locator('.more dt').getByText('http.route').filter({ visible: true }).waitFor();
  await inspect(page, 'dark');
  await page.setViewportSize({ width: 320, height: 640 });
  expect(await overflow(page)).toBeLessThanOrEqual(0);
});

test('every value of a span is shown as text', async () => {
  const page = await openPage();
  const hostile = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`;
  const traceId = 'ba5eba11ba5eba11ba5eba11ba5eba11';
  const text = (key: string, stringValue: string) => ({ key, value: { stringValue } });
  const now = Date.now();
  const span = {
    ...{ traceId, spanId: '00000000000000aa', name: hostile, kind: 2 },
    startTimeUnixNano: `${now}000000`,
    endTimeUnixNano: `${now + 5}000000`,
    attributes: [text('http.route', hostile), text(hostile, hostile)],
  };
  const answer = await fetch(`${observe}/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      resourceSpans: [
        { resource: { attributes: [text('service.name', hostile)] }, scopeSpans: [{ spans: [span] }] },
      ],
    }),
  });
  expect(answer.status).toBe(200);
  await open(page, traceId, ['<img src=x']);
  await spanOf(page, '<img').click();
  await expect.poll(() => page.locator('.more dd').allTextContents()).toContain(hostile);
  expect(await page.locator('img, #rows script, #request script').count()).toBe(0);
  expect(await page.title()).toBe('Requests');
  expect(
    await page.evaluate(
      "(() => { try { document.body.innerHTML = '<b>x</b>'; return 'set' } catch (e) { return e.name } })()",
    ),
  ).toBe('TypeError');
});

test('it answers this machine alone, and no other site’s page', async () => {
  const headers = { host: 'attacker.example' };
  const status = await new Promise((resolve) =>
    get(`${observe}/news`, { headers }, (answer) => resolve(answer.resume().statusCode)),
  );
  expect(status).toBe(403);
  const form = { method: 'POST', headers: { 'content-type': 'text/plain' }, body: '{"resourceSpans":[]}' };
  expect((await fetch(`${observe}/v1/traces`, form)).status).toBe(415);
  const nonsense = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{' };
  expect((await fetch(`${observe}/v1/traces`, nonsense)).status).toBe(400);
  const { headers: said } = await fetch(observe);
  expect(said.get('content-security-policy')).toMatch(
    /default-src 'none'; script-src 'self';.*trusted-types/,
  );
  expect(said.get('access-control-allow-origin')).toBeNull();
});
