// Through the ingress: a partner over plain HTTP, and a person in a real browser with the demo partner.
import { createHash, X509Certificate } from 'node:crypto';
import { demoUsers } from '@course-exchange/local-stack/demo-accounts';
import { type Browser, chromium as launcher, type Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { walkThrough } from '../containers/login-walkthrough.ts';
import { chromium } from '../e2e/chromium.ts';
import { discover, token } from '../support/flow.ts';
import { send } from '../support/http.ts';
import { connect, refresh } from '../support/load/families.ts';
import { openUserAgent } from '../support/user-agent.ts';
import type { Environment } from './environment.ts';
import { timed } from './figures.ts';
import { findIngress } from './ingress.ts';
import { secretNames } from './values.ts';

export function throughTheIngress(environment: () => Environment): void {
  describe('through the ingress', () => {
    test('a partner gets tokens and reads events', () => {
      const { issuer, partner } = environment();
      return walkThrough(issuer, partner);
    });

    test('no port but the public one is reached, and no route but the public ones', async () => {
      const { issuer } = environment();
      for (const path of [
        '/livez',
        '/readyz',
        '/healthz',
        '/metrics',
        '/operator',
        '/identity.v1.TokenService/ExchangeToken',
      ])
        expect([path, (await send(`${issuer}${path}`)).status]).toEqual([path, 404]);
    });

    test('what comes by http is led to the issuer or refused, and spends no token [R28.3 R28.5]', () =>
      expectRefusedByHttp(environment()));
  });
}

/** At the ingress' http port: a GET without a credential is led to the issuer, all else is 400, and no token is spent. */
export async function expectRefusedByHttp({ issuer, partner }: Pick<Environment, 'issuer' | 'partner'>) {
  const at = { discovery: await discover(issuer), partner };
  const family = await connect(at, openUserAgent(issuer), demoUsers.typical);
  const byHttp = (address: string) => address.replace('https:', 'http:');
  const document = `${issuer}/.well-known/openid-configuration`;
  const led = await send(byHttp(document));
  expect([led.status, led.headers.location]).toEqual([308, document]);
  const form = { grant_type: 'refresh_token', refresh_token: family.refresh };
  const headers = { authorization: `Bearer ${family.access}` };
  const refused = await Promise.all([
    token(byHttp(at.discovery.token_endpoint), partner, form),
    send(byHttp(`${issuer}/api/events`), { headers }),
  ]);
  for (const { status, text } of refused)
    expect([status, text]).toEqual([400, '{"error":"invalid_request"}']);
  await refresh(at, family);
}

/** Where the demo partner is installed, and the Ingress' address and certificate. */
export type Visited = Pick<Environment, 'kube' | 'issuer' | 'partnerUrl'>;

/** From the demo partner's page over login and consent to the events. */
export async function connectInBrowser(visited: Visited): Promise<void> {
  const browser = await startBrowser(visited);
  // Each time as somebody whom the issuer does not know.
  const connectAnew = async () => {
    const page = await browser.newPage({ locale: 'en-GB' });
    page.setDefaultTimeout(60_000);
    await connectPartner(page, visited);
    return page;
  };
  try {
    const page = await timed('browser: from Connect to the events', () =>
      connectAnew().catch((error: Error) => {
        // Chromium gives up what it loads when a network interface of the machine comes or goes: once more then.
        if (!error.message.includes('ERR_NETWORK_CHANGED')) throw error;
        return connectAnew();
      }),
    );
    expect(await page.locator('main li').count()).toBeGreaterThan(5);
  } finally {
    await browser.close();
  }
}

async function connectPartner(page: Page, { partnerUrl, issuer }: Visited): Promise<void> {
  await page.goto(`${partnerUrl}/`);
  await page.getByRole('link', { name: 'Connect', exact: false }).first().click();
  await page.waitForURL(`${issuer}/**`);
  await page.getByLabel('E-mail address').fill(demoUsers.typical.email);
  await page.getByLabel('Password').fill(demoUsers.typical.password);
  await page.getByRole('button', { name: 'Log in', exact: true }).click();
  const allow = page.getByRole('button', { name: 'Allow', exact: true });
  const events = page.getByRole('heading', { level: 1, name: 'Your events' });
  await allow.or(events).first().waitFor();
  if (await allow.isVisible()) await allow.click();
  await page.waitForURL(`${partnerUrl}/**`);
  await page.locator('main li').first().waitFor();
}

/** Knows the hosts under test and accepts their one certificate beside those that it trusts anyway. */
async function startBrowser(visited: Visited): Promise<Browser> {
  const { kube, issuer, partnerUrl } = visited;
  const address = await findIngress(kube);
  const hosts = [issuer, partnerUrl].map((origin) => `MAP ${new URL(origin).host} ${address}`).join(',');
  const { executablePath, libraryPath } = await chromium();
  return launcher.launch({
    executablePath,
    timeout: 120_000,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--disable-background-networking',
      `--host-resolver-rules=${hosts}`,
      `--ignore-certificate-errors-spki-list=${await publicKeyHash(visited)}`,
    ],
    ...(libraryPath ? { env: { LD_LIBRARY_PATH: libraryPath } } : {}),
  });
}

async function publicKeyHash({ kube }: Visited): Promise<string> {
  const { data } = await kube.get<{ data: Record<string, string> }>('secret', secretNames.ingress);
  const { publicKey } = new X509Certificate(Buffer.from(data['tls.crt'] ?? '', 'base64'));
  const bytes = publicKey.export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(bytes).digest('base64');
}
