// Waiting until something is so, also outside of a test.
import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves with what `look` gives when `wanted` says yes; rejects with the last of it after `seconds`. */
export async function eventually<T>(
  look: () => Promise<T>,
  wanted: (seen: T) => boolean,
  seconds = 120,
): Promise<T> {
  for (const end = performance.now() + seconds * 1_000; ; await sleep(500)) {
    const seen = await look();
    if (wanted(seen)) return seen;
    if (performance.now() > end) throw new Error(`Not after ${seconds} s: ${JSON.stringify(seen)}`);
  }
}
