// A real Chromium for the suite, and people who sit in front of it: each with a separate profile.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { findProgram } from '../support/programs.ts';

/** A registered redirect URI where nothing of ours listens. */
export const silentCallback = 'http://127.0.0.1:9099/callback';

const quiet = ['--no-sandbox', '--disable-gpu', '--disable-quic'];

export function useBrowser() {
  let browser: Browser | undefined;
  // Nothing listens where the silent callback points; in this browser alone somebody does.
  const silentPartner = createServer((_, response) => response.end('back at the partner'));
  beforeAll(async () => {
    await new Promise<void>((resolve) => silentPartner.listen(0, '127.0.0.1', resolve));
    const { port } = silentPartner.address() as AddressInfo;
    const rules = `--host-resolver-rules=MAP ${new URL(silentCallback).host} 127.0.0.1:${port}`;
    const { command: executablePath, env } = await findProgram('chromium');
    const options = { executablePath, args: [...quiet, rules], env: { ...process.env, ...env } };
    browser = await chromium.launch({ ...options, timeout: 120_000 });
  });
  afterEach(() => Promise.all((browser?.contexts() ?? []).map((profile) => profile.close())));
  afterAll(async () => {
    await browser?.close();
    silentPartner.close();
  });
  return {
    person: async (options: BrowserContextOptions = {}): Promise<Page> => {
      if (!browser) throw new Error('Chromium has not started.');
      const profile = await browser.newContext({ locale: 'en-GB', ...options });
      profile.setDefaultTimeout(40_000);
      return profile.newPage();
    },
  };
}

/** Keeps a picture of the page where SCREENSHOTS is 1. */
export async function picture(page: Page, name: string): Promise<void> {
  const path = join(import.meta.dirname, '../../.run/screenshots', `${name}.png`);
  if (process.env.SCREENSHOTS) await page.screenshot({ path, fullPage: true });
}

/** WCAG 2.2 at levels A and AA, all earlier ones included. */
const wcag = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** What axe finds. In dark mode only the colours are others, so only they are looked at again. */
export async function violations(page: Page, colorScheme: 'light' | 'dark' = 'light'): Promise<string[]> {
  // No page has frames: axe then needs no second page to put its findings together.
  const axe = new AxeBuilder({ page }).setLegacyMode();
  const chosen = colorScheme === 'light' ? axe.withTags(wcag) : axe.withRules(['color-contrast']);
  const found = (await chosen.analyze()).violations;
  return found.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary = '' }) => `${id}: ${target.join(' ')} ${failureSummary}`),
  );
}

/** Pixels by which the page is wider than its window. */
export function overflow(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
}
