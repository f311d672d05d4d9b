import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { ownStopwatch, standstillWatch } from './own-time.ts';

/** As a machine that is taken away for so long. */
function standStill(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

test('time that a process had counts, and a moment of a standstill', async () => {
  const [begun, elapsed] = [performance.now(), ownStopwatch()];
  while (elapsed() < 200) await sleep(5);
  expect(performance.now() - begun).toBeGreaterThan(199);
  const before = elapsed();
  standStill(1_000);
  expect(elapsed() - before).toBeLessThan(200);
});

test('a standstill is told of for as long as is asked', async () => {
  const stoodStill = standstillWatch();
  standStill(400);
  expect(stoodStill(1_000)).toBe(true);
  await expect.poll(() => stoodStill(100)).toBe(false);
});
