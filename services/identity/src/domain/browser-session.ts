// A browser session: who signed in here and when (R29).
import type { Sub } from './ids.ts';

/** Milliseconds: a session ends so long after its last use … */
const sessionIdleMs = 60 * 60 * 1000;
/** … and so long after the login, used or not. */
const sessionAbsoluteMs = 8 * 60 * 60 * 1000;

export interface BrowserSession {
  readonly sub: Sub;
  /** Milliseconds since the epoch. */
  readonly authTime: number;
  /** Milliseconds since the epoch. */
  readonly lastUsed: number;
}

/** Milliseconds that the session still has when it is left alone from `now` on; 0 when it is over. */
export function sessionTimeLeft({ authTime, lastUsed }: BrowserSession, now: number): number {
  return Math.max(0, Math.min(lastUsed + sessionIdleMs, authTime + sessionAbsoluteMs) - now);
}
