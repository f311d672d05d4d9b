// When a login is not looked at because too many before it failed (R30).

/** Failures older than this, in milliseconds, no longer count. */
export const failureWindowMs = 15 * 60 * 1000;
/** Failures of one account from one network that start a delay. */
export const accountThreshold = 5;
/** Failures of one network, whatever the accounts, that start a delay. */
export const networkThreshold = 50;
/** The first delay and the longest one, in milliseconds. */
export const firstDelayMs = 1_000;
export const longestDelayMs = 60_000;

/**
 * Milliseconds that nothing is looked at after the last of `failures` failures: none below `threshold`, 1 s
 * at it, doubled by each further failure up to 60 s. The Lua of store/redis/login-failures.ts computes the
 * same; a test compares them.
 */
export function delayAfter(failures: number, threshold: number): number {
  if (failures < threshold) return 0;
  return Math.min(longestDelayMs, firstDelayMs * 2 ** (failures - threshold));
}

/** Whole seconds that a page tells the user to wait; at least one. */
export function secondsToWait(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / 1000));
}
