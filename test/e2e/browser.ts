// A real Chromium for the suite, and people who sit in front of it: each with a separate profile.
import { execFile } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { AxeBuilder } from '@axe-core/playwright';
import { unpackDebianPackage } from '@course-exchange/local-stack/debian-package';
import { cacheDirectory } from '@course-exchange/local-stack/run-directory';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { silentCallback } from './journey.ts';

const quiet = ['--no-sandbox', '--disable-gpu', '--disable-quic'];

export function useBrowser() {
  let browser: Browser | undefined;
  // Nothing listens where the silent callback points; in this browser alone somebody does.
  const silentPartner = createServer((_, response) => response.end('back at the partner'));
  beforeAll(async () => {
    await new Promise<void>((resolve) => silentPartner.listen(0, '127.0.0.1', resolve));
    const { port } = silentPartner.address() as AddressInfo;
    const rules = `--host-resolver-rules=MAP ${new URL(silentCallback).host} 127.0.0.1:${port}`;
    const { executablePath, env } = await findChromium();
    const options = { executablePath, args: [...quiet, rules], env: { ...process.env, ...env } };
    browser = await chromium.launch({ ...options, timeout: 120_000 });
  }, 400_000);
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

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const unpacked = join(cacheDirectory(), 'chromium');

/**
 * Its path, and what it needs in its environment. Debian's is installed as root, or unpacked into the cache. Throws one
 * sentence when there is none and none can be brought.
 */
async function findChromium() {
  const cause = installed() ? undefined : await bring().catch((error: unknown) => error);
  const executablePath = installed();
  const sentence = 'Install Chromium, or set CHROMIUM_PATH to the path of its program.';
  if (!executablePath) throw new Error(`The browser suite needs Chromium. ${sentence}`, { cause });
  const libraries = globSync(join(unpacked, '{usr/lib,lib}/*-linux-gnu{,/nss}')).join(delimiter);
  return {
    executablePath,
    env: executablePath.startsWith(unpacked) ? { LD_LIBRARY_PATH: libraries } : {},
  };
}

function installed(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const known = [
    process.env.CHROMIUM_PATH ?? '',
    ...folders.flatMap((folder) => names.map((name) => join(folder, name))),
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    join(unpacked, 'usr/lib/chromium/chromium'),
  ];
  return known.find((path) => path !== '' && existsSync(path));
}

function bring(): Promise<unknown> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const apt = (...words: string[]) => promisify(execFile)('apt-get', words, { env, timeout: 300_000 });
  const install = ['install', '--yes', '--quiet', '--no-install-recommends', 'chromium'];
  if (process.getuid?.() === 0)
    return apt(...install).catch(() => apt('update', '--quiet').then(() => apt(...install)));
  return apt('-o', 'Debug::NoLocking=1', '--simulate', ...install).then(({ stdout }) =>
    unpackDebianPackage(
      unpacked,
      [...stdout.matchAll(/^Inst (\S+)/gm)].map(([, name = '']) => name),
    ),
  );
}
