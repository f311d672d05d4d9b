// A person in a real browser and a partner over plain HTTP, both through the ingress.
import { createHash, X509Certificate } from 'node:crypto';
import { people } from '@course-exchange/local-stack/demo-people';
import { type Browser, chromium as launcher, type Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { walkThrough } from '../containers/walk.ts';
import { chromium } from '../e2e/chromium.ts';
import { send } from '../support/http.ts';
import type { Environment } from './environment.ts';
import { timed } from './figures.ts';
import { findIngress } from './ingress.ts';
import { secretNames } from './values.ts';

export function throughTheIngress(environment: () => Environment): void {
  describe('through the ingress', () => {
    test('a partner gets tokens and reads events', () => walkThrough(environment().issuer));

    test('a person connects the demo partner in a browser and sees the events', async () => {
      const browser = await startBrowser(environment());
      try {
        const page = await browser.newPage({ locale: 'en-GB' });
        page.setDefaultTimeout(20_000);
        await timed('browser: from Connect to the events', () =>
          connectPartner(page, environment()).catch((error: Error) => {
            // Chromium gives up what it loads when a network interface of the machine comes or goes: once more then.
            if (!error.message.includes('ERR_NETWORK_CHANGED')) throw error;
            return connectPartner(page, environment());
          }),
        );
        expect(await page.locator('main li').count()).toBeGreaterThan(5);
      } finally {
        await browser.close();
      }
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
  });
}

async function connectPartner(page: Page, { partnerUrl, issuer }: Environment): Promise<void> {
  await page.goto(`${partnerUrl}/`);
  await page.getByRole('link', { name: 'Connect', exact: false }).first().click();
  expect(new URL(page.url()).origin).toBe(issuer);
  await page.getByLabel('E-mail address').fill(people.typical.email);
  await page.getByLabel('Password').fill(people.typical.password);
  await page.getByRole('button', { name: 'Log in', exact: true }).click();
  const allow = page.getByRole('button', { name: 'Allow', exact: true });
  const events = page.getByRole('heading', { level: 1, name: 'Your events' });
  await allow.or(events).first().waitFor();
  if (await allow.isVisible()) await allow.click();
  await page.waitForURL(`${partnerUrl}/**`);
  await page.locator('main li').first().waitFor();
}

/** Knows the hosts under test and accepts their one certificate beside those that it trusts anyway. */
async function startBrowser({ kube, issuer, partnerUrl }: Environment): Promise<Browser> {
  const address = await findIngress(kube);
  const hosts = [issuer, partnerUrl].map((origin) => `MAP ${new URL(origin).host} ${address}`).join(',');
  const { executablePath, libraryPath } = await chromium();
  return launcher.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--disable-background-networking',
      `--host-resolver-rules=${hosts}`,
      `--ignore-certificate-errors-spki-list=${await publicKeyHash({ kube })}`,
    ],
    ...(libraryPath ? { env: { LD_LIBRARY_PATH: libraryPath } } : {}),
  });
}

async function publicKeyHash({ kube }: Pick<Environment, 'kube'>): Promise<string> {
  const { data } = await kube.get<{ data: Record<string, string> }>('secret', secretNames.ingress);
  const { publicKey } = new X509Certificate(Buffer.from(data['tls.crt'] ?? '', 'base64'));
  const bytes = publicKey.export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(bytes).digest('base64');
}
