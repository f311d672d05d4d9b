// PKCE (RFC 7636): optional, but binding once used (R2.1, R2.4).
import { hash } from 'node:crypto';
import { authorizationRefusal, type RefusedGrant, tokenRefusal } from '../refusals/reasons.ts';
import { sameText } from '../secrets.ts';

export const challengeMethods = ['S256', 'plain'] as const;
export type ChallengeMethod = (typeof challengeMethods)[number];

export interface PkceChallenge {
  readonly challenge: string;
  readonly method: ChallengeMethod;
}

/** Of verifier and challenge alike (RFC 7636 §4.1, §4.2). */
const wellFormed = /^[A-Za-z0-9\-._~]{43,128}$/;

/** Empty is absent (R1.8); `plain` when only the method is (R2.2). Throws `invalid_request`. */
export function parseChallenge(challenge: string, method: string): PkceChallenge | undefined {
  if (challenge === '' && method === '') return undefined;
  const known = challengeMethods.find((candidate) => candidate === (method || 'plain'));
  if (known === undefined || !wellFormed.test(challenge)) throw authorizationRefusal('pkce_challenge');
  return { challenge, method: known };
}

/** Throws `invalid_request`; empty is absent. */
export function checkVerifierForm(verifier: string): void {
  if (verifier !== '' && !wellFormed.test(verifier)) throw tokenRefusal('malformed_verifier');
}

/** Throws `invalid_request` when only one of verifier and challenge was given. */
export function verifyChallenge(
  bound: PkceChallenge | undefined,
  verifier: string,
  grant?: RefusedGrant,
): boolean {
  if ((bound === undefined) !== (verifier === '')) throw tokenRefusal('pkce_verifier', { grant });
  return matchesChallenge(bound, verifier);
}

/** Matches the same verifier. */
export function asS256({ challenge, method }: PkceChallenge): PkceChallenge {
  return method === 'S256' ? { challenge, method } : { challenge: s256(challenge), method: 'S256' };
}

function s256(verifier: string): string {
  return hash('sha256', verifier, 'base64url');
}

/** Constant time. */
export function matchesChallenge(bound: PkceChallenge | undefined, verifier: string): boolean {
  if (bound === undefined) return verifier === '';
  const presented = bound.method === 'plain' ? verifier : s256(verifier);
  return sameText(presented, bound.challenge);
}
