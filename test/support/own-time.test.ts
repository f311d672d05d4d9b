import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { ownStopwatch, standstillWatch, watchStalls } from './own-time.ts';

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

test('a standstill is told of for as long as is asked, and measured where it was', async () => {
  const [stoodStill, stalls] = [standstillWatch(), watchStalls()];
  const from = performance.now();
  standStill(400);
  const to = performance.now();
  expect(stoodStill(1_000)).toBe(true);
  expect(stalls.longest(from, to)).toBeGreaterThanOrEqual(399);
  expect(stalls.between(from, to)).toBeGreaterThan(370);
  expect(stalls.longest(to + 1_000, to + 2_000)).toBe(0);
  await expect.poll(() => stoodStill(100)).toBe(false);
});
