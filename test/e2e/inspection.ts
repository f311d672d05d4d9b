// What every page must bear, whoever made it: axe in light and dark, 320 px without scrolling sideways, and a
// picture for people to look at.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const pictures = join(import.meta.dirname, '../../.run/screenshots');
/** WCAG 2.2 at levels A and AA, all earlier ones included. */
const wcag = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Inspects the page as it stands; `name` names its pictures. Leaves it in light mode and at its size. */
export async function inspect(page: Page, name: string): Promise<void> {
  await mkdir(pictures, { recursive: true });
  const size = page.viewportSize() ?? { width: 1280, height: 720 };
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: join(pictures, `${name}-${colorScheme}.png`), fullPage: true });
    expect(await violations(page, colorScheme), `${name} in ${colorScheme} mode`).toEqual([]);
  }
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 320, height: 640 });
  await page.screenshot({ path: join(pictures, `${name}-narrow.png`), fullPage: true });
  expect(await overflow(page), `${name} scrolls sideways at 320 px`).toBeLessThanOrEqual(0);
  await page.setViewportSize(size);
}

/** In dark mode only the colours are others, so only they are looked at again. */
async function violations(page: Page, colorScheme: 'light' | 'dark'): Promise<string[]> {
  // No page has frames: axe then needs no second page to put its findings together.
  const axe = new AxeBuilder({ page }).setLegacyMode();
  const chosen = colorScheme === 'light' ? axe.withTags(wcag) : axe.withRules(['color-contrast']);
  const { violations: found } = await chosen.analyze();
  return found.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.target.join(' ')} ${node.failureSummary ?? ''}`),
  );
}

function overflow(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
}
