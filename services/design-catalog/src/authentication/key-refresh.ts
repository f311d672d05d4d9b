// Keeps the key set fresh between calls, so that neither a call nor readiness waits for identity.
import { setTimeout as sleep } from 'node:timers/promises';
import type { KeySet } from './key-set.ts';

/** Milliseconds between two looks at the set, and its age from which it is fetched anew. */
const pause = 1_000;
const oldest = 30_000;

/** Runs until `signal` aborts. Fetches at once, every second while there is no set, then every 30 s. */
export async function keepKeysFresh(keySet: KeySet, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await keySet.refreshOlderThan(oldest);
    await sleep(pause, undefined, { signal, ref: false }).catch(() => undefined);
  }
}
