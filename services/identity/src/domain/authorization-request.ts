// An authorization request that passed every check: what its transaction remembers.
import type { BrowserSession } from './browser-session.ts';
import type { ClientId, Sub } from './ids.ts';
import type { PkceChallenge } from './pkce.ts';
import type { Prompt } from './prompt.ts';
import type { Scope } from './scope.ts';

export interface AuthorizationRequest {
  readonly clientId: ClientId;
  /** Registered at the time of the request. */
  readonly redirectUri: string;
  readonly scopes: readonly Scope[];
  /** Empty when none was sent; the same for `nonce`, `loginHint` and `uiLocales`. */
  readonly state: string;
  readonly nonce: string;
  readonly pkce?: PkceChallenge | undefined;
  readonly prompts: readonly Prompt[];
  /** Seconds. */
  readonly maxAge?: number | undefined;
  readonly loginHint: string;
  readonly uiLocales: string;
  /** The user that `id_token_hint` names. */
  readonly hintedSub?: Sub | undefined;
}

/**
 * Whether someone who is signed in already is accepted without a login form: not under `prompt=login`, not
 * when the login is older than `max_age`, not when the partner hinted at another user (R5).
 */
export function acceptsSession(request: AuthorizationRequest, session: BrowserSession, now: number): boolean {
  const { prompts, maxAge, hintedSub } = request;
  if (prompts.includes('login')) return false;
  if (hintedSub !== undefined && hintedSub !== session.sub) return false;
  // Strictly younger, so that max_age=0 always asks.
  return maxAge === undefined || now - session.authTime < maxAge * 1000;
}

/** Whether the user must be asked: a scope not granted yet, or `prompt=consent` (R6). */
export function needsConsent({ prompts, scopes }: AuthorizationRequest, granted: readonly Scope[]): boolean {
  return prompts.includes('consent') || !scopes.every((scope) => granted.includes(scope));
}

/** Seconds since the epoch for the ID token, only where `max_age` asked for it (R5). */
export function authTimeClaim({ maxAge }: AuthorizationRequest, authTime: number): number | undefined {
  return maxAge === undefined ? undefined : Math.floor(authTime / 1000);
}
