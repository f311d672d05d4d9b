// Families of refresh tokens that live while something is done to the services.
import { setTimeout as sleep } from 'node:timers/promises';
import { standstillWatch } from '../support/own-time.ts';

/** Of a call, milliseconds: the two seconds that it has, and what stood still before. */
const longestCallMs = 4_000;

/**
 * Lives one family after the other until `isOver`. Where the machine stands still a store's second passes, and a token may
 * be spent whose successor nobody got: a 503 then ends a family, and the next one begins. Rejects with any other failure.
 */
export async function liveFamilies(live: () => Promise<void>, isOver: () => boolean): Promise<void> {
  const stoodStill = standstillWatch();
  while (!isOver())
    await live().catch(async (error: unknown) => {
      if (!stoodStill(longestCallMs) || !/\b503\b|\[unavailable\]/.test(String(error))) throw error;
      await sleep(200);
    });
}
