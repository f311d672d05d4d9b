// Networks to call from, for tests of the login throttle: it counts by network (R30).
import { test } from 'vitest';
import { address, withoutStores } from './deployment.ts';

const onLoopback = /^https?:\/\/(127\.|localhost)/.test(address) && process.platform === 'linux';
let networks = 0;

/** A loopback address in a /24 of its own, so that failed logins of one test slow no other; elsewhere, none. */
export function ownNetwork(): string | undefined {
  networks += 1;
  return onLoopback ? `127.77.${networks}.1` : undefined;
}

/** A test that writes to the stores and calls from several networks, which only this machine's own can be. */
export const networkTest = test.skipIf(withoutStores || !onLoopback);
