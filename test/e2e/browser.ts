// A real Chromium for the suite, and people who sit in front of it: each with a profile of their own.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium as launcher,
  type Page,
} from 'playwright-core';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { chromium } from './chromium.ts';
import { silentCallback } from './journey.ts';

const quiet = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Starts Chromium for the tests of this file. */
export function useBrowser() {
  let browser: Browser | undefined;
  const profiles: BrowserContext[] = [];
  // Nothing listens where the silent callback points; in this browser alone somebody does.
  const silentPartner = createServer((_, response) => response.end('back at the partner'));
  beforeAll(async () => {
    await new Promise<void>((resolve) => silentPartner.listen(0, '127.0.0.1', resolve));
    const { port } = silentPartner.address() as AddressInfo;
    const rules = `--host-resolver-rules=MAP ${new URL(silentCallback).host} 127.0.0.1:${port}`;
    const { executablePath, libraryPath } = await chromium();
    const env = libraryPath ? { ...process.env, LD_LIBRARY_PATH: libraryPath } : process.env;
    browser = await launcher.launch({
      executablePath,
      args: [...quiet, rules],
      env: definedOnly(env),
      timeout: 120_000,
    });
  }, 400_000);
  afterEach(async () => {
    await Promise.all(profiles.splice(0).map((profile) => profile.close()));
  });
  afterAll(async () => {
    await browser?.close();
    silentPartner.close();
  });
  return {
    /** A person with a fresh profile; gone after the test. */
    person: async (options: BrowserContextOptions = {}): Promise<Page> => {
      if (!browser) throw new Error('Chromium has not started.');
      const profile = await browser.newContext({ locale: 'en-GB', ...options });
      profile.setDefaultTimeout(40_000);
      profiles.push(profile);
      return profile.newPage();
    },
  };
}

function definedOnly(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
